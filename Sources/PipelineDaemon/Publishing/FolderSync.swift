import Dispatch
import Glibc
import Synchronization
import SystemCalls

/// Makes folders durable, for all who ask at about the same time with one call to the disk. One that hangs, hangs for itself.
final class FolderSync: Sendable {
    typealias Done = @Sendable (SystemError?) -> Void

    /// How long it is waited for others.
    private static let gathering: UInt32 = 1000  // microseconds

    private let waiting = Mutex<[String: [Done]]>([:])

    /// What has been done in the folders before the call survives a power cut when `done` is called without an error.
    func sync(_ folders: Set<String>, done: @escaping Done) {
        guard let folder = folders.first else { return done(nil) }
        sync(folder) { [self] error in
            if error != nil { done(error) } else { sync(folders.subtracting([folder]), done: done) }
        }
    }

    private func sync(_ folder: String, done: @escaping Done) {
        let isFirst = waiting.withLock { waiting in
            waiting[folder, default: []].append(done)
            return waiting[folder]?.count == 1
        }
        guard isFirst else { return }
        DispatchQueue(label: "pipelined.durable").async { [self] in
            usleep(Self.gathering)
            // Who comes from now on may have changed the folder after it was looked at, and is one of the next.
            let gathered = waiting.withLock { $0.removeValue(forKey: folder) } ?? []
            let error: SystemError?
            do throws(SystemError) {
                try FileSystem.sync(folder)
                error = nil
            } catch let failure {
                error = failure
            }
            for done in gathered { done(error) }
        }
    }
}
