import FoundationEssentials
import PipelineControl
import SystemCalls

/// Sends requests to the gallery through its Unix socket, which is in the same folder as the daemon's socket.
struct GalleryClient {
    private let daemon: SocketAddress
    private let path: String

    init(_ daemon: SocketAddress) {
        self.daemon = daemon
        path = FileSystem.join(FileSystem.folder(of: daemon.path), "gallery.sock")
    }

    func ask<Answer: Decodable>(_ method: String, _ page: String, for answer: Answer.Type) throws -> Answer {
        try ask(method, page, nil as String?, for: answer)
    }

    /// Sends `body` as JSON, and decodes the answer. If the gallery refuses, throws its message.
    func ask<Answer: Decodable>(
        _ method: String, _ page: String, _ body: (some Encodable)?, for: Answer.Type
    ) throws -> Answer {
        let bytes: [UInt8]
        do {
            bytes = try send(method, page, try body.map { try Wire.encode($0) } ?? [])
        } catch let error as SystemError {
            throw failure(error)
        }
        if let answer = try? Wire.decode(Answer.self, bytes) { return answer }
        let problem = try? Wire.decode(Problem.self, bytes)
        throw Failure("Refused", problem?.message ?? "the gallery's answer can't be understood", .failed)
    }

    /// Explains why no gallery answers at the socket, and what to do.
    func failure(_ cause: SystemError) -> Failure {
        let socket = SocketAddress(socket: path, root: nil, variable: nil)
        let unreachable = Unreachable(address: socket, cause: cause)
        guard !unreachable.isForbidden else { return unreachable.failure }
        return Failure("Unreachable", "no gallery answers at \(path) (\(cause.reason))\n\(advice)", .unreachable)
    }

    /// The command that starts a gallery beside this daemon.
    private var advice: String {
        let listen = "--listen 127.0.0.1:8080"
        return switch daemon.origin {
        case .root(let root): "start it with `pipelined-gallery --root \(root) \(listen)`"
        case .instance(let name): "start it with `pipelined-gallery --instance \(name) \(listen)`"
        case .option, .variable: "start it with `pipelined-gallery --socket \(daemon.path) \(listen)`"
        case .system:
            """
            start it with `systemctl enable --now pipelined-gallery.socket`, or name the root of a daemon that you run \
            yourself: `pipectl --root DIR gallery`
            """
        }
    }

    /// Returns the body of the answer.
    private func send(_ method: String, _ page: String, _ body: [UInt8]) throws -> [UInt8] {
        let socket = try Socket.connect(path)
        let head =
            "\(method) \(page) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        try Socket.send(Array(head.utf8) + body, to: socket)
        var answer: [UInt8] = []
        while answer.count < 1 << 20 {
            let part = try Socket.receive(room: 65536, from: socket).bytes
            if part.isEmpty { break }
            answer += part
        }
        let end = Array("\r\n\r\n".utf8)
        guard let start = answer.indices.first(where: { answer[$0...].starts(with: end) }) else { return [] }
        return Array(answer[(start + end.count)...])
    }
}

private struct Problem: Decodable {
    var message: String
}
