import DaemonConfiguration
import DaemonRuntime
import PictureFiles
import ServiceProgram
import SystemCalls

/// Remembers how many mounts the path of each inbox and outbox crosses. If the number decreases, a disk has been
/// unmounted.
@Coordination
final class KnownPlaces {
    private struct Place {
        var resolved: String
        var mounts: Int

        var isGone: Bool { ((try? MountTable.depth(of: resolved)) ?? mounts) < mounts }
    }

    private let configuration: ConfigurationInForce
    private var known: [String: Place] = [:]
    /// Folders being checked. The value is true if another check must follow. Each folder has only one check at a time,
    /// so that a disk that does not answer blocks only one thread.
    private var looking: [String: Bool] = [:]

    init(_ configuration: ConfigurationInForce) { self.configuration = configuration }

    var gone: [String] { known.filter { $0.value.isGone }.map(\.key) }

    func isGone(_ folder: String) -> Bool { known[folder]?.isGone == true }

    func forget() { known = [:] }

    func learn() {
        let folders = configuration.folders + [configuration.places.inbox, configuration.adHocOutbox]
        for folder in Set(folders) { learn(folder) }
    }

    private func learn(_ folder: String) {
        guard looking.updateValue(false, forKey: folder) == nil else {
            // A check is in progress, but the mounts may have changed since it began.
            looking[folder] = true
            return
        }
        FileLanes.work(on: folder).async { [self] in
            let resolved = FileSystem.resolved(folder)
            let mounts = try? MountTable.depth(of: resolved)
            Coordination.async { [self] in
                if looking.removeValue(forKey: folder) == true { learn(folder) }
                guard let mounts, (known[folder]?.mounts ?? 0) <= mounts else { return }
                known[folder] = Place(resolved: resolved, mounts: mounts)
            }
        }
    }
}
