import FoundationEssentials
import PipelineControl
import SystemCalls

extension Verb {
    static let gallery = Verb(
        name: "gallery",
        summary: "the address of the page that shows the pictures",
        usage: "",
        discussion: [
            "It asks pipelined-gallery, which serves the page at a port if it was started with --listen. The address has a",
            "code that logs one browser in, once. Anybody who may use the gallery's socket can ask for another. Without a",
            "port, `ssh -L 8080:/run/pipelined/gallery.sock HOST` brings the page of HOST to http://localhost:8080.",
        ],
        examples: [
            Example("pipectl gallery", "print an address, to be opened in a browser of this machine"),
            Example("pipectl gallery --json", "the same as JSON"),
        ],
        run: { context in
            let path = FileSystem.join(FileSystem.folder(of: context.address.path), "gallery.sock")
            let login = try login(path)
            if context.json { try context.output.object(login) } else { try context.output.line("\(login.address)") }
            return .done
        })

    private static func login(_ path: String) throws -> Login {
        let answer: [UInt8]
        do {
            answer = try post("/login", to: path)
        } catch let error as SystemError {
            throw Failure(
                "Unreachable",
                "no gallery answers at \(path): \(error.reason); `systemctl enable --now pipelined-gallery.socket` starts one, "
                    + "and so does `pipelined-gallery --listen 127.0.0.1:8080`", .unreachable)
        }
        if let login = try? Wire.decode(Login.self, answer) { return login }
        let problem = try? Wire.decode(Problem.self, answer)
        throw Failure("Refused", problem?.message ?? "the gallery's answer can't be understood", .failed)
    }

    /// Sends a POST without a body, and returns the body of the answer.
    private static func post(_ page: String, to path: String) throws -> [UInt8] {
        let socket = try Socket.connect(path)
        let request = "POST \(page) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try Socket.send(request.utf8, to: socket)
        var answer: [UInt8] = []
        while answer.count < 65536 {
            let part = try Socket.receive(room: 65536, from: socket).bytes
            if part.isEmpty { break }
            answer += part
        }
        let end = Array("\r\n\r\n".utf8)
        guard let start = answer.indices.first(where: { answer[$0...].starts(with: end) }) else { return [] }
        return Array(answer[(start + end.count)...])
    }
}

/// The address at which a browser logs in.
private struct Login: Codable {
    var address: String
}

private struct Problem: Decodable {
    var message: String
}
