import ServiceProgram
import SystemCalls

/// A file that keeps the sessions of a port across restarts of the gallery. Each line has a session and the time when
/// the session expires.
struct SessionFile: Sendable {
    private let file: StateFile
    var path: String { file.path }

    init(port: UInt16, beside control: String) { file = StateFile("gallery-sessions-\(port)", beside: control) }

    /// Reads the sessions. If the file is missing or can't be read, returns no sessions, so browsers must log in again.
    func read() -> [Door.Pass] {
        String(decoding: (try? file.read()) ?? [], as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, words[0].utf8.count == 32, let ends = Double(words[1]) else { return nil }
            return Door.Pass(text: String(words[0]), ends: ends)
        }
    }

    func write(_ sessions: [Door.Pass]) {
        do {
            try file.write(Array(sessions.map { "\($0.text) \($0.ends)\n" }.joined().utf8))
        } catch {
            Log.failure("logins will be lost at exit, because \(path) can't be written: \(error.reason)")
        }
    }
}
