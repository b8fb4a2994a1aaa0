import Glibc
import PipelineControl
import SystemCalls

/// Explains why no daemon answers at the socket, and what to do.
struct Unreachable {
    let address: SocketAddress
    let cause: SystemError

    /// Name of the failure if the user may not use the socket.
    static let permissionDenied = "PermissionDenied"

    /// Whether the socket exists, but this user may not use it.
    var isForbidden: Bool { cause.code == EACCES || cause.code == EPERM }

    var failure: Failure {
        if isForbidden {
            return Failure(Self.permissionDenied, permission(group: Self.group(of: address.path)), .unreachable)
        }
        return Failure(
            "Unreachable", "no daemon answers at \(address.path) (\(cause.reason))\n\(advice)", .unreachable)
    }

    private var advice: String {
        if cause.code == ENAMETOOLONG {
            return "a socket's path has at most 107 bytes: choose a shorter folder"
        }
        return switch address.origin {
        case .root(let root): "start it with `pipelined --root \(root)`"
        case .instance(let name): "start it with `systemctl start pipelined@\(name)`"
        case .option, .variable: "start pipelined, or check that it listens at this path"
        case .system:
            """
            start it with `systemctl start pipelined`, or name the root of a daemon that you run yourself: \
            `pipectl --root DIR`
            """
        }
    }

    func permission(group: String?) -> String {
        let refused = "you may not use the socket \(address.path) (\(cause.reason))"
        guard let group, group != "root" else { return "\(refused)\nit belongs to root: use `sudo`" }
        return """
            \(refused)
            it is for members of the group '\(group)': `sudo usermod -aG \(group) $USER`, then log in again
            """
    }

    /// The name of the group that owns the socket. If the socket is not accessible, the group that owns its folder.
    private static func group(of path: String) -> String? {
        var status = stat()
        let folder = FileSystem.folder(of: path)
        guard stat(path, &status) == 0 || stat(folder, &status) == 0 else { return nil }
        return Group.name(status.st_gid)
    }
}
