import PipelineModel

/// The files of the NATS servers.
extension FleetPlan {
    /// The configuration of a server. Its paths are relative to the folder that the server starts in.
    /// - Parameter authority: the authority's public key
    func configuration(of server: FleetServer, authority: String) -> String {
        """
        # The NATS server of a fleet of pipelined, made by `pipectl fleet init` for \(server.host).
        # install.sh configures Debian's nats-server with it. For any other nats-server from 2.9 on:
        # cd FOLDER && nats-server -c nats.conf

        server_name: "\(folder(of: server))"
        port: \(server.port)

        # A picture is sent in pieces of 256 KiB, each with a short header.
        max_payload: 512KB

        tls {
          cert_file: "certificate.pem"
          key_file: "key.pem"
          timeout: 5
        }

        # A node that does not answer these pings is considered gone.
        ping_interval: "5s"
        ping_max: 2

        # The authority that admits nodes. A node's credentials contain its permissions.
        trusted: "\(authority)"
        resolver: MEMORY
        include "nodes.conf"

        """ + (servers.count > 1 ? "\n" + cluster(of: server) : "")
    }

    /// The script that installs a server's folder on the server's machine.
    static let installation = """
        #!/bin/sh
        # Configures this machine's nats-server for the fleet of pipelined. Run it as root, again after each change of a file here:
        #   sudo sh install.sh
        # It copies this folder to /etc/pipelined-nats, and makes Debian's unit nats-server.service use that folder.
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

    private func cluster(of server: FleetServer) -> String {
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
                # Only servers have a certificate of the authority.
                verify: true
                timeout: 5
              }
            }

            """
    }
}
