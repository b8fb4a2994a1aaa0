import DaemonRuntime
import JobModel

@testable import JobFlow

/// Records the events that the daemon's owners report.
@Coordination
final class EventListener: DaemonEvents {
    enum Event { case limits, paused, resumed, ended, endedAsRows, refused, batch, rested, inbox, adopted, status }

    private(set) var events: [Event] = []
    /// Is called with each event.
    var heard: @Coordination (Event) -> Void = { _ in }

    private func hear(_ event: Event) {
        events.append(event)
        heard(event)
    }

    func limitsChanged() { hear(.limits) }
    func queuesPaused() { hear(.paused) }
    func queuesResumed() { hear(.resumed) }
    func jobEnded(_ record: JobRecord) { hear(.ended) }
    func jobsEndedAsRows(_ count: Int) { hear(.endedAsRows) }
    func jobsRefused() { hear(.refused) }
    func batchEnded(_ batch: Int) { hear(.batch) }
    func jobRested() { hear(.rested) }
    func inboxChanged() { hear(.inbox) }
    func configurationAdopted() { hear(.adopted) }
    func statusChanged() { hear(.status) }

    nonisolated static func listening(to reloads: Reloads) -> EventListener {
        Coordination.sync {
            let listener = EventListener()
            reloads.events = listener
            return listener
        }
    }
}
