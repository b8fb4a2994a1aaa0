import DaemonRuntime
import PipelineModel
import SystemCalls

/// Knows under how many mounts the inboxes and outboxes lay when they were first looked at, and so when one is gone.
@Coordination
final class KnownPlaces {
    private struct Place {
        var resolved: String
        var mounts: Int

        var isGone: Bool { ((try? MountTable.depth(of: resolved)) ?? mounts) < mounts }
    }

    private let configuration: ConfigurationInForce
    private var known: [String: Place] = [:]
    /// Folders being looked at: a disk that does not answer holds one thread.
    private var looking: Set<String> = []

    init(_ configuration: ConfigurationInForce) { self.configuration = configuration }

    var gone: [String] { known.filter { $0.value.isGone }.map(\.key) }

    func isGone(_ folder: String) -> Bool { known[folder]?.isGone == true }

    func forget() { known = [:] }

    func learn() {
        let folders =
            configuration.recipes.flatMap { [configuration.inbox(of: $0), configuration.outbox(of: $0)] }
            + [configuration.places.inbox, configuration.adHocOutbox]
        for folder in Set(folders) where looking.insert(folder).inserted {
            FileQueue.async { [self] in
                let resolved = FileSystem.resolved(folder)
                let mounts = try? MountTable.depth(of: resolved)
                Coordination.async { [self] in
                    looking.remove(folder)
                    guard let mounts, (known[folder]?.mounts ?? 0) <= mounts else { return }
                    known[folder] = Place(resolved: resolved, mounts: mounts)
                }
            }
        }
    }
}
