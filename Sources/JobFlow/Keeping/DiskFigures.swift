package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import Dispatch
import PictureFiles
import ServiceProgram
import Synchronization
import SystemCalls

/// Size and free space of the disks that contain originals and results. A disk that does not answer blocks one thread,
/// but delays each client by half a second at most.
@Coordination
package final class DiskFigures {
    private let configuration: ConfigurationInForce
    private var known: [String: DiskFigure] = [:]
    /// Folders being checked, and the calls of `look` that wait for each folder.
    private var looking: [String: [DispatchGroup]] = [:]
    /// Folders whose disk has not answered in time. New calls of `look` don't wait for these folders.
    private var late: Set<String> = []

    /// Longest wait for a disk.
    private static let patience = Duration.milliseconds(500)

    package init(_ configuration: ConfigurationInForce) { self.configuration = configuration }

    /// Checks the disks; calls `done` with a figure for each disk that has answered in time.
    package func look(_ done: @escaping Done<[DiskFigure]>) {
        let group = DispatchGroup()
        let folders = folders
        for folder in folders where !late.contains(folder) {
            group.enter()
            looking[folder, default: []].append(group)
            if looking[folder]?.count == 1 { look(at: folder) }
        }
        let isAnswered = Mutex(false)
        let answer = { @Coordination @Sendable [self] in
            guard
                isAnswered.withLock({ answered in
                    defer { answered = true }
                    return !answered
                })
            else { return }
            // If a disk does not answer now, its earlier figure is out of date.
            for folder in folders where late.contains(folder) || waits(group, for: folder) {
                known[folder] = nil
                late.insert(folder)
            }
            var devices: Set<Int> = []
            done(folders.compactMap { known[$0] }.filter { devices.insert($0.device).inserted })
        }
        Coordination.notify(group, answer)
        Coordination.after(Self.patience, answer)
    }

    private func waits(_ group: DispatchGroup, for folder: String) -> Bool {
        looking[folder]?.contains { $0 === group } ?? false
    }

    private func look(at folder: String) {
        FileLanes.work(on: folder).async { [self] in
            let figure = Self.figure(of: folder)
            Coordination.async { [self] in
                known[folder] = figure
                late.remove(folder)
                for group in looking.removeValue(forKey: folder) ?? [] { group.leave() }
            }
        }
    }

    /// The daemon's own folder, followed by the outboxes.
    private var folders: [String] {
        let outboxes = configuration.outboxes + [configuration.adHocOutbox]
        let own = configuration.places.data
        return [own] + Set(outboxes).filter { $0 != own }.sorted()
    }

    nonisolated private static func figure(of folder: String) -> DiskFigure? {
        guard let room = try? DiskRoom(in: folder), let there = try? FileSystem.status(FileSystem.resolved(folder))
        else { return nil }
        return (folder, there.identity.device, Int(room.usable), Int(room.free))
    }
}
