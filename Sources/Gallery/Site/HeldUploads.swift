import Synchronization
import SystemCalls

/// Uploaded files that browsers have not added yet. The files have no names, so they vanish when this program exits.
final class HeldUploads: Sendable {
    private struct Upload {
        var name: String
        var file: Descriptor
        var ends: ContinuousClock.Instant
    }

    /// Maximum files. Each browser uploads at most three at a time.
    private static let most = 64
    private static let life = Duration.seconds(10 * 60)
    private let uploads = Mutex<[Upload]>([])

    /// Keeps the file, and returns the name that `take` expects; nil if the maximum is reached.
    func keep(_ file: Descriptor) -> String? {
        let upload = Upload(name: Secret.make(), file: file, ends: .now + Self.life)
        return uploads.withLock { all in
            all.removeAll { $0.ends <= .now }
            guard all.count < Self.most else { return nil }
            all.append(upload)
            return upload.name
        }
    }

    func take(_ name: String) -> Descriptor? {
        uploads.withLock { all in
            all.removeAll { $0.ends <= .now }
            return all.firstIndex { $0.name == name }.map { all.remove(at: $0).file }
        }
    }
}
