import Foundation
import Glibc

/// A child process, optionally with pipes to talk through.
final class ChildProcess {
    let id: pid_t
    private var input: FileHandle?
    private var output: FileHandle?
    private var unread = Data()

    /// The possible connections of the child's standard streams.
    enum Streams {
        case pipes
        /// Standard input is empty; all output is written to this file.
        case log(String)
    }

    init(_ words: [String], _ environment: [String: String] = [:], streams: Streams = .pipes) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var theirs: [Int32] = []
        switch streams {
        case .pipes:
            let (question, answer) = (try Self.pipe(), try Self.pipe())
            theirs = [question.reading, answer.writing]
            posix_spawn_file_actions_adddup2(&actions, question.reading, 0)
            posix_spawn_file_actions_adddup2(&actions, answer.writing, 1)
            input = FileHandle(fileDescriptor: question.writing, closeOnDealloc: true)
            output = FileHandle(fileDescriptor: answer.reading, closeOnDealloc: true)
        case .log(let path):
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        defer { for descriptor in theirs { close(descriptor) } }
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var arguments = words.map { strdup($0) } + [nil]
        var settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + settings { free(text) } }
        var id = pid_t()
        let status = posix_spawnp(&id, words[0], &actions, nil, &arguments, &settings)
        guard status == 0 else {
            throw BenchError("\(words[0]) can't be started: \(String(cString: strerror(status)))")
        }
        self.id = id
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw BenchError("no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    func say(_ line: String) throws {
        try input?.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Waits for one line of output.
    func hear() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = String(decoding: unread[unread.startIndex..<end], as: UTF8.self)
                unread.removeSubrange(unread.startIndex...end)
                return line
            }
            guard let more = output?.availableData, !more.isEmpty else {
                throw BenchError("a peer has ended early; what it complained of is above")
            }
            unread.append(more)
        }
    }

    /// Closes the input and waits for the process to end. Returns whether it succeeded.
    @discardableResult
    func finish() -> Bool {
        try? input?.close()
        var status: Int32 = 0
        return waitpid(id, &status, 0) == id && status == 0
    }

    func stop() {
        kill(id, SIGTERM)
        finish()
    }

    /// Waits for any child process to end. Returns its id, and whether it succeeded.
    static func next() throws -> (id: pid_t, succeeded: Bool) {
        var status: Int32 = 0
        let id = waitpid(-1, &status, 0)
        guard id > 0 else { throw BenchError("there is no process to wait for") }
        return (id, status == 0)
    }

    /// Runs a program to its end, and returns its output.
    static func output(_ words: [String], _ environment: [String: String] = [:]) throws -> String {
        let process = try ChildProcess(words, environment)
        let said = try process.output?.readToEnd() ?? Data()
        let text = String(decoding: said, as: UTF8.self)
        guard process.finish() else { throw BenchError("\(words.joined(separator: " ")) has failed:\n\(text)") }
        return text
    }
}
