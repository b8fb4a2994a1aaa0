import PipelineModel

/// What the servers read.
extension FleetPlan {
    /// The configuration of a server. The server takes paths from the folder that it is started in.
    /// - Parameter pins: the fingerprints of the keys of all servers
    func configuration(of server: FleetServer, pins: [String]) -> String {
        """
        # Start it in this folder:  cd FOLDER && nats-server -c nats.conf
        #
        # The NATS server of a fleet of pipelined, made by `pipectl fleet init` for \(server.host).
        # It has to be nats-server 2.14.0 or newer.

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

        jetstream {
          store_dir: "store"
          # What it has confirmed lies on its disk.
          sync_interval: always
          max_memory_store: 64MB
          max_file_store: 1GB
        }

        # The nodes, and what each may do.
        include "nodes.conf"

        """ + (servers.count > 1 ? "\n" + cluster(of: server, pins) : "")
    }

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
        # anew. It belongs beside nats.conf on every server, and counts after:  nats-server --signal reload

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

    /// As an origin it lends under its own name alone; as a guest it asks every origin.
    private static func published(by node: String) -> [String] {
        let api = "$JS.API"
        let consumers = Priority.allCases.map { "JOBS.\($0.rawValue)" }
        return [
            "jobs.*.\(node).*", "nodes.\(node)", "wake", "origin.*.*", "unwanted.*", "command.*.\(node)",
            "\(api).STREAM.INFO.JOBS", "\(api).STREAM.CREATE.JOBS", "\(api).STREAM.PURGE.JOBS",
        ]
            + ["INFO", "DURABLE.CREATE", "MSG.NEXT"].flatMap { verb in consumers.map { "\(api).CONSUMER.\(verb).\($0)" }
            }
            + ["$JS.ACK.JOBS.>"]
    }

    private static func heard(by node: String) -> [String] {
        ["origin.\(node).*", "unwanted.\(node)", "command.\(node).*", "nodes.*", "wake", "_INBOX.\(node).>"]
    }
}
