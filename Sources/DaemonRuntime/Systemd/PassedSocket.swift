import CSystemd
import Glibc
package import SystemCalls

/// A socket at which systemd listens in our place. The next process answers a client that connects while none runs.
package struct PassedSocket {
    /// FileDescriptorName= of its unit.
    package let name: String
    package let descriptor: Descriptor

    /// All that were passed.
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

    /// The control socket (pipelined.socket), or nil when none was passed. Anything but one listening Unix stream socket is an
    /// error.
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
                "what was passed as '\(socket.name)' is not a Unix stream socket that listens" + advice)
        }
        return socket.descriptor
    }

    /// Whether it is a stream socket that listens, of this family or of any.
    package func listens(family: Int32 = AF_UNSPEC) -> Bool {
        sd_is_socket(descriptor.number, family, Int32(SOCK_STREAM.rawValue), 1) > 0
    }
}

/// Why a program can't listen at what systemd passed.
package struct PassedSocketError: Error, CustomStringConvertible {
    package let description: String

    package init(_ problem: String) { description = "socket activation: \(problem)" }
}
