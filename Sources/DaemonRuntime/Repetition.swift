/// Repeats a call at an interval as long as `isNeeded` returns true. Repeated calls of `begin` share one timer.
@Coordination
package final class Repetition {
    /// The usual pause before a retry.
    package nonisolated static let interval = Duration.seconds(2)

    private let after: (@escaping @Coordination @Sendable () -> Void) -> Void
    private let isNeeded: @Coordination () -> Bool
    private let call: @Coordination () -> Void
    private var isPending = false

    /// `after` calls its argument when the interval is over.
    package init(
        after: @escaping (@escaping @Coordination @Sendable () -> Void) -> Void = {
            Coordination.after(Repetition.interval, $0)
        },
        while isNeeded: @escaping @Coordination () -> Bool, _ call: @escaping @Coordination () -> Void
    ) {
        (self.after, self.isNeeded, self.call) = (after, isNeeded, call)
    }

    package func begin() {
        guard !isPending, isNeeded() else { return }
        isPending = true
        after { [self] in
            isPending = false
            guard isNeeded() else { return }
            call()
            begin()
        }
    }
}
