import CSystemd
import Glibc
package import SystemCalls

/// A socket that systemd opened for the daemon. If a client connects while no daemon runs, the next daemon answers.
package struct PassedSocket {
    /// `FileDescriptorName=` in the socket's unit.
    package let name: String
    package let descriptor: Descriptor

    /// All sockets that systemd passed.
    package static func all() throws(PassedSocketError) -> [PassedSocket] {
        let first = Int32(SD_LISTEN_FDS_START)
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        defer { free(names) }
        guard count >= 0 else {
            throw PassedSocketError(
                "LISTEN_FDS and LISTEN_PID can't be understood: \(String(cString: strerror(-count)))")
        }
        return (0..<Int(count)).map { index in
            defer { free(names?[index]) }
            return PassedSocket(
                name: names?[index].map { String(cString: $0) } ?? "unknown",
                descriptor: Descriptor(owning: first + Int32(index)))
        }
    }

    /// The control socket (pipelined.socket), or nil if systemd passed no socket. Throws if systemd passed several
    /// sockets, or a socket that is not a listening Unix stream socket.
    package static func control() throws(PassedSocketError) -> Descriptor? {
        let advice = "; the unit's one socket is ListenStream=/run/pipelined/control.sock, as in pipelined.socket"
        let passed = try all()
        guard let socket = passed.first else { return nil }
        guard passed.count == 1 else {
            let (known, others) = (passed.map(\.name), passed.map(\.name).filter { $0 != "control" })
            throw PassedSocketError(
                "\(passed.count) sockets were passed (\(known.joined(separator: ", "))), where nobody would answer at "
                    + others.joined(separator: ", ") + advice)
        }
        guard socket.listens(family: AF_UNIX) else {
            throw PassedSocketError(
                "the socket passed as '\(socket.name)' is not a listening Unix stream socket" + advice)
        }
        return socket.descriptor
    }

    /// Whether this is a listening stream socket of the given family, or of any family by default.
    package func listens(family: Int32 = AF_UNSPEC) -> Bool {
        sd_is_socket(descriptor.number, family, Int32(SOCK_STREAM.rawValue), 1) > 0
    }
}

/// Why a program can't listen on the sockets that systemd passed.
package struct PassedSocketError: Error, CustomStringConvertible {
    package let description: String

    package init(_ problem: String) { description = "socket activation: \(problem)" }
}
