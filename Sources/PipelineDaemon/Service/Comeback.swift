import DaemonRuntime
import Foundation
import Glibc
import PictureFiles
import PipelineModel
import SystemCalls
import WorkerPools

/// Counts unclean exits in a row. systemd always restarts the daemon at once. After the first crash the daemon begins
/// at once; after each further crash it waits longer first.
///
/// The unit can't do this: systemd supports such a growing pause (`RestartSteps=`) only since version 254.
struct Comeback: Equatable {
    var crashes = 0
    /// When the latest run began, in seconds since 1970.
    var began = 0.0

    /// After a run that lasted longer than this many seconds, the count starts again.
    private static let row = 600.0
    private static let longest = 60

    /// `text` comes from the previous run; a clean stop removes it.
    init(after text: String?, at now: Double) {
        began = now
        guard let words = text?.split(whereSeparator: \.isWhitespace), words.count == 2, let before = Int(words[0]),
            let then = Double(words[1])
        else { return }
        crashes = (0..<Self.row).contains(now - then) ? min(before + 1, Self.longest) : 1
    }

    var text: String { "\(crashes) \(began)\n" }

    /// The wait before the daemon begins.
    var pause: Duration { crashes < 2 ? .zero : .seconds(min(Self.longest, 1 << min(crashes - 2, 6))) }

    // MARK: - On disk

    /// Called at the start, under a service manager. Returns true when the daemon may begin, or false if it was asked
    /// to stop meanwhile.
    static func begin(_ places: Places) -> Bool {
        guard ServiceManager.isListening else { return true }
        let text = try? String(contentsOfFile: places.comeback, encoding: .utf8)
        var comeback = Comeback(after: text, at: Timestamp.now())
        if comeback.pause > .zero {
            let line =
                "it has ended \(comeback.crashes) times in a row without being asked to, and begins in \(comeback.pause.text)"
            Log.failure(line)
            ServiceManager.tell("STATUS=\(line)")
            guard isLeftAlone(for: comeback.pause) else { return false }
            comeback.began = Timestamp.now()
        }
        do {
            try FileSystem.write(Array(comeback.text.utf8), to: places.comeback)
        } catch {
            Log.failure("\(error), ignoring: it is not counted how often the daemon crashes")
        }
        return true
    }

    /// Called for an exit that is no crash: the daemon was asked to stop, or a person has to act first.
    static func end(_ places: Places) {
        guard ServiceManager.isListening else { return }
        try? FileSystem.remove(places.comeback)
    }

    /// Waits for `time`; false if a signal asks the daemon to stop.
    private static func isLeftAlone(for time: Duration) -> Bool {
        var (ends, before) = (sigset_t(), sigset_t())
        sigemptyset(&ends)
        for signal in [SIGTERM, SIGINT] { sigaddset(&ends, signal) }
        pthread_sigmask(SIG_BLOCK, &ends, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var time = timespec(tv_sec: Int(time / .seconds(1)), tv_nsec: 0)
        return sigtimedwait(&ends, nil, &time) < 0
    }
}
