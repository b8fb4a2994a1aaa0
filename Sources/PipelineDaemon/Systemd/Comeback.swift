import Foundation
import Glibc
import PipelineModel
import SystemCalls

/// How often in a row the daemon has ended without being asked to. systemd starts it again at once, always: the first comes back at once, and one
/// that goes on crashing waits longer each time before it begins.
///
/// The unit does not do this itself: systemd knows of such a pause (`RestartSteps=`) since version 254 only.
struct Comeback: Equatable {
    var crashes = 0
    /// When the latest began, in seconds since 1970.
    var began = 0.0

    /// One that has run for longer begins a new row, in seconds.
    private static let row = 600.0
    private static let longest = 60

    /// What the one before has left is there unless it was stopped.
    init(after text: String?, at now: Double) {
        began = now
        guard let words = text?.split(whereSeparator: \.isWhitespace), words.count == 2, let before = Int(words[0]),
            let then = Double(words[1])
        else { return }
        crashes = (0..<Self.row).contains(now - then) ? min(before + 1, Self.longest) : 1
    }

    var text: String { "\(crashes) \(began)\n" }

    /// Before it begins.
    var pause: Duration { crashes < 2 ? .zero : .seconds(min(Self.longest, 1 << min(crashes - 2, 6))) }

    // MARK: - On disk

    /// Called where a service manager restarts what ends, at the start; returns when it may begin. False when it has been asked to stop meanwhile.
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

    /// It ends because it was asked to, or because somebody has to do something first.
    static func end(_ places: Places) {
        guard ServiceManager.isListening else { return }
        try? FileSystem.remove(places.comeback)
    }

    /// Waits; false when it is to end.
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
