import CSystemd
import Glibc
package import SystemCalls

/// The control socket, when systemd listens at it in our place (pipelined.socket). The next daemon answers a client
/// that connects while none runs.
package enum PassedSocket {
    /// The socket that was passed, or nil when none was. Anything but one listening Unix stream socket is an error.
    package static func take() throws(PassedSocketError) -> Descriptor? {
        let first = Int32(SD_LISTEN_FDS_START)
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        defer { free(names) }
        guard count >= 0 else {
            throw refusal("LISTEN_FDS and LISTEN_PID can't be understood: \(String(cString: strerror(-count)))")
        }
        guard count > 0 else { return nil }
        let known = (0..<Int(count)).map { index in
            defer { free(names?[index]) }
            return names?[index].map { String(cString: $0) } ?? "unknown"
        }
        guard count == 1 else {
            let others = known.filter { $0 != "control" }.joined(separator: ", ")
            throw refusal(
                "\(count) sockets were passed (\(known.joined(separator: ", "))), where nobody would answer at \(others)"
            )
        }
        guard sd_is_socket_unix(first, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            throw refusal("what was passed as '\(known[0])' is not a Unix stream socket that listens")
        }
        return Descriptor(owning: first)
    }

    private static func refusal(_ problem: String) -> PassedSocketError {
        PassedSocketError(
            description: "socket activation: \(problem); "
                + "the unit's one socket is ListenStream=/run/pipelined/control.sock, as in pipelined.socket")
    }
}

/// Why the daemon can't listen at what systemd passed.
package struct PassedSocketError: Error, CustomStringConvertible {
    package let description: String
}
