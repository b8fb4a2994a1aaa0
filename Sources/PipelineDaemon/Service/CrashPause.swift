import Foundation
import Glibc
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools

/// Counts consecutive crashes. systemd restarts the daemon immediately after each crash. After the first crash, the
/// daemon also begins its work immediately. After each further crash, the daemon waits longer before it begins its
/// work.
///
/// The systemd unit can't do this: systemd supports such a growing pause (`RestartSteps=`) only since version 254.
struct CrashPause: Equatable {
    var crashes = 0
    /// When the latest run began, in seconds since 1970.
    var began = 0.0

    /// A run that lasted longer than this many seconds resets the count.
    private static let longestGap = 600.0
    private static let longestPause = 60

    /// `text` is the content of the file that the previous run wrote. It is nil after a clean stop, which removes the
    /// file.
    init(after text: String?, at now: Double) {
        began = now
        guard let words = text?.split(whereSeparator: \.isWhitespace), words.count == 2, let before = Int(words[0]),
            let then = Double(words[1])
        else { return }
        crashes = (0..<Self.longestGap).contains(now - then) ? min(before + 1, Self.longestPause) : 1
    }

    var text: String { "\(crashes) \(began)\n" }

    /// The pause before the daemon begins its work.
    var pause: Duration { crashes < 2 ? .zero : .seconds(min(Self.longestPause, 1 << min(crashes - 2, 6))) }

    // MARK: - On disk

    /// Called at the start. Under a service manager, waits for `pause`. Returns false if the daemon is asked to stop
    /// meanwhile.
    static func begin(_ places: Places) -> Bool {
        guard ServiceManager.isListening else { return true }
        let text = try? String(contentsOfFile: places.comeback, encoding: .utf8)
        var latest = CrashPause(after: text, at: Timestamp.now())
        if latest.pause > .zero {
            let line =
                "it has ended unexpectedly \(latest.crashes) times in a row, and begins in \(latest.pause.text)"
            Log.failure(line)
            ServiceManager.notify("STATUS=\(line)")
            guard isLeftAlone(for: latest.pause) else { return false }
            latest.began = Timestamp.now()
        }
        do {
            try FileSystem.write(Array(latest.text.utf8), to: places.comeback)
        } catch {
            Log.failure("\(error), ignoring: crashes are not counted")
        }
        return true
    }

    /// Called before an exit that is not a crash: the daemon was asked to stop, or it can't start until a person fixes
    /// something.
    static func end(_ places: Places) {
        guard ServiceManager.isListening else { return }
        try? FileSystem.remove(places.comeback)
    }

    /// Waits for `time`. Returns false if a signal asks the daemon to stop meanwhile.
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
