import DaemonConfiguration
import DaemonRuntime
import PictureFiles
import PipelineModel
import SystemCalls

/// Remembers how many mounts each inbox and outbox lay under when first checked, and so notices when one is gone.
@Coordination
final class KnownPlaces {
    private struct Place {
        var resolved: String
        var mounts: Int

        var isGone: Bool { ((try? MountTable.depth(of: resolved)) ?? mounts) < mounts }
    }

    private let configuration: ConfigurationInForce
    private var known: [String: Place] = [:]
    /// Folders being checked, and whether another check must follow. One check at a time, because a disk that does not
    /// answer holds one thread.
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
            // The mounts may have changed since that check began.
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
