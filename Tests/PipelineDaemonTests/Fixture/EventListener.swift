import DaemonRuntime

@testable import JobFlow
@testable import PipelineDaemon

/// Records the events that the daemon's owners report.
@Coordination
final class EventListener: DaemonEvents {
    enum Event { case limits, rested, inbox, adopted, status }

    private(set) var events: [Event] = []
    /// Is called with each event.
    var heard: @Coordination (Event) -> Void = { _ in }

    private func hear(_ event: Event) {
        events.append(event)
        heard(event)
    }

    func limitsChanged() { hear(.limits) }
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
