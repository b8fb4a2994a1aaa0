import CLinux
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Loads plugins' files in a process that may crash or stand still: `pipelined-render --describe`. It blocks until all is known.
struct PluginTrial: Sendable {
    let program: String
    /// For each file.
    let timeout: Duration

    private static let memory: UInt64 = 2 << 30
    /// More is said of no file.
    private static let longestLine = WorkerChannel.longestMessage

    /// What each of the files is, in their order. Usually one process tries them all. When it ends in the middle, the next begins with
    /// the file that it had come to: one is blamed only when nothing was loaded before it.
    func findings(_ files: [String]) -> [PluginFinding] {
        var findings: [PluginFinding] = []
        while findings.count < files.count {
            let (found, end) = attempt(Array(files[findings.count...]))
            findings += found
            if found.isEmpty { findings.append(.refused(end)) }
        }
        return findings
    }

    /// What was found until the process ended, and how that was.
    private func attempt(_ files: [String]) -> (found: [PluginFinding], end: String) {
        do {
            let (process, output) = try start(files)
            let (found, isLate) = read(files.count, from: output)
            // With whatever it has started.
            kill(-process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
            if isLate { return (found, "it had not loaded after PluginTimeout=\(timeout.text), and was given up") }
            let end = WorkerEnd(status: status, stoppedBy: nil, wasKilledByUs: false)
            return (found, "the process that loaded it \(end)")
        } catch {
            return ([], "it can't be tried: \(error)")
        }
    }

    private func start(_ files: [String]) throws -> (process: pid_t, output: Descriptor) {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let process = try ChildProgram.start(
            [program, "--describe"] + files, environment: WorkerEnvironment.variables,
            streams: [nothing.number, theirs.number, nothing.number])
        _ = clinux_limit(process, Int32(RLIMIT_DATA.rawValue), Self.memory)
        return (process, ours)
    }

    /// A line for each file, as they come; the clock begins again with each.
    private func read(_ count: Int, from output: Descriptor) -> (found: [PluginFinding], isLate: Bool) {
        var found: [PluginFinding] = []
        var rest = Data()
        var room = [UInt8](repeating: 0, count: 65536)
        var end = ContinuousClock.now + timeout
        while found.count < count, rest.count <= Self.longestLine {
            var ready = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
            let left = max(.zero, end - .now)
            let answer = poll(&ready, 1, Int32((left / .milliseconds(1)).rounded(.up)))
            if answer < 0, errno == EINTR { continue }
            guard answer > 0 else { return (found, true) }
            let got = Glibc.read(output.number, &room, room.count)
            guard got > 0 else { break }
            rest += room.prefix(got)
            while found.count < count, let line = rest.firstIndex(of: UInt8(ascii: "\n")) {
                // Nonsense is the end of what can be believed.
                guard let finding = try? JSONDecoder().decode(PluginFinding.self, from: rest[..<line]) else {
                    return (found, false)
                }
                found.append(finding)
                rest = rest[rest.index(after: line)...]
                end = .now + timeout
            }
        }
        return (found, false)
    }
}
