/// The path of the control socket, and the source of that path.
public struct SocketAddress: Sendable {
    public enum Origin: Equatable, Sendable {
        case option
        case root(String)
        case instance(String)
        case variable
        case system
    }

    public static let variable = "PIPELINED_SOCKET"
    public static let systemPath = "/run/pipelined/control.sock"

    public let path: String
    public let origin: Origin

    /// Uses the first argument that is not nil, in the order socket, root, instance, variable. `variable` is the value
    /// of the environment variable. If all are nil, uses the system's path.
    public init(socket: String?, root: String?, instance: String? = nil, variable: String?) {
        if let socket {
            (path, origin) = (socket, .option)
        } else if let root {
            (path, origin) = (Self.path(below: root), .root(root))
        } else if let instance {
            (path, origin) = ("/run/pipelined@\(instance)/control.sock", .instance(instance))
        } else if let variable, !variable.isEmpty {
            (path, origin) = (variable, .variable)
        } else {
            (path, origin) = (Self.systemPath, .system)
        }
    }

    /// The path of the socket for clients with read-only access.
    public static func look(beside path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast().map { $0 + "/" }.joined() + "look.sock"
    }

    /// The socket's path for a daemon that was started with `--root`.
    public static func path(below root: String) -> String {
        (root.hasSuffix("/") ? root : root + "/") + "run/control.sock"
    }
}
