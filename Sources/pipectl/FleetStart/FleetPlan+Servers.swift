import PipelineModel

/// What the servers read.
extension FleetPlan {
    /// The configuration of a server. The server takes paths from the folder that it is started in.
    /// - Parameter pins: the fingerprints of the keys of all servers
    func configuration(of server: FleetServer, pins: [String]) -> String {
        """
        # The NATS server of a fleet of pipelined, made by `pipectl fleet init` for \(server.host).
        # install.sh has Debian's nats-server use it. Any other from 2.9 on does:  cd FOLDER && nats-server -c nats.conf

        server_name: "\(folder(of: server))"
        port: \(server.port)

        # A picture travels in pieces of 256 KiB, with some words beside each.
        max_payload: 512KB

        tls {
          cert_file: "certificate.pem"
          key_file: "key.pem"
          ca_file: "authority.pem"
          # Who connects is the node that its certificate names.
          verify_and_map: true
          timeout: 5
        }

        # A node that does not answer is gone.
        ping_interval: "5s"
        ping_max: 2

        # The nodes, and what each may do.
        include "nodes.conf"

        """ + (servers.count > 1 ? "\n" + cluster(of: server, pins) : "")
    }

    /// What puts a server's folder into force, on its machine.
    static let installation = """
        #!/bin/sh
        # Has the nats-server of this machine serve the fleet of pipelined. Run it as root, and again when a file beside it is new:
        #   sudo sh install.sh
        # It copies this folder to /etc/pipelined-nats, and has the unit nats-server.service of Debian's package use that.
        set -eu
        cd "$(dirname "$0")"
        command -v nats-server >/dev/null || apt-get install --yes nats-server
        install -d -m 750 -g nats /etc/pipelined-nats /etc/systemd/system/nats-server.service.d
        install -m 640 -g nats ./*.pem ./*.conf /etc/pipelined-nats/
        cat >/etc/systemd/system/nats-server.service.d/pipelined.conf <<END
        [Service]
        WorkingDirectory=/etc/pipelined-nats
        ExecStart=
        ExecStart=$(command -v nats-server) -c nats.conf
        Restart=always
        END
        systemctl daemon-reload
        systemctl enable nats-server
        systemctl restart nats-server

        """

    private func cluster(of server: FleetServer, _ pins: [String]) -> String {
        let others = servers.filter { $0 != server }.map { "    \"\($0.route)\"" }
        return """
            cluster {
              name: "fleet"
              port: \(server.clusterPort)
              routes: [
            \(others.joined(separator: "\n"))
              ]
              tls {
                cert_file: "certificate.pem"
                key_file: "key.pem"
                ca_file: "authority.pem"
                verify: true
                # The keys of the servers. No node's certificate is good here.
                pinned_certs: [
            \(pins.map { "      \"\($0)\"" }.joined(separator: "\n"))
                ]
                timeout: 5
              }
            }

            """
    }

    /// What each node may do, the same on all servers.
    var nodesConfiguration: String {
        """
        # The nodes of the fleet, and what each may do. `pipectl fleet add` and `pipectl fleet remove` write this file
        # anew. It belongs beside nats.conf on every server, and counts after install.sh, or:  nats-server --signal reload

        authorization {
          users: [
        \(nodes.map(Self.user).joined(separator: "\n"))
          ]
        }

        """
    }

    private static func user(_ node: String) -> String {
        func list(_ subjects: [String]) -> String { subjects.map { "          \"\($0)\"" }.joined(separator: "\n") }
        return """
                {
                  user: "CN=\(node)"
                  permissions: {
                    publish: [
            \(list(published(by: node)))
                    ]
                    subscribe: [
            \(list(heard(by: node)))
                    ]
                    # One answer to each request.
                    allow_responses: { max: 1, expires: "2m" }
                  }
                }
            """
    }

    /// Whatever it says has its name as the last word.
    private static func published(by node: String) -> [String] {
        ["nodes.\(node)", "origin.*.*.\(node)"] + toOne.map { "\($0).*.\(node)" }
    }

    private static func heard(by node: String) -> [String] {
        ["nodes.*", "origin.\(node).*.*", "_INBOX.\(node).>"] + toOne.map { "\($0).\(node).*" }
    }

    /// The first words of the subjects that have a receiver and a sender.
    private static let toOne = ["hello", "room", "waits", "declined", "take", "unwanted", "command"]
}
