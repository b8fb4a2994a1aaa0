import PipelineControl
import ServiceProgram
import SystemCalls

/// Requests previews from the daemon. Browsers that wait for the same preview share one call.
actor PreviewDesk: QueueActor {
    struct Key: Hashable, Sendable {
        var id: Int
        var result: Int?
        var width: Int
        /// A text that the page sends. The page sends another text after the picture has changed.
        var version: String
    }

    typealias Answer = Result<ControlCalls.Answered<Call.Open.Reply>, NoAnswer>
    typealias Done = @Sendable (Answer) -> Void

    /// Seconds to wait for a preview. A browser that still wants the preview asks again after this time.
    static let patience = 30

    nonisolated let executor: QueueExecutor
    private let calls: ControlCalls
    private var asked: [Key: (ticket: ControlCalls.Ticket, waiting: [ObjectIdentifier: (Wish, Done)])] = [:]

    init(_ calls: ControlCalls, on executor: QueueExecutor) { (self.calls, self.executor) = (calls, executor) }

    /// One browser's request, which it can withdraw.
    final class Wish: Sendable {
        private let desk: PreviewDesk
        private let key: Key

        fileprivate init(_ desk: PreviewDesk, _ key: Key) { (self.desk, self.key) = (desk, key) }

        func withdraw() { desk.async { [self] in $0.withdraw(self, key) } }
    }

    nonisolated func open(_ key: Key, _ done: @escaping Done) -> Wish {
        let wish = Wish(self, key)
        async { $0.open(key, wish, done) }
        return wish
    }

    private func open(_ key: Key, _ wish: Wish, _ done: @escaping Done) {
        if asked[key] == nil {
            let call = Call.Open(id: key.id, result: key.result, width: key.width)
            let ticket = calls.call(call, patience: Self.patience) { [weak self] answer in
                self?.async { $0.came(answer, for: key) }
            }
            asked[key] = (ticket, [:])
        }
        asked[key]?.waiting[ObjectIdentifier(wish)] = (wish, done)
    }

    private func withdraw(_ wish: Wish, _ key: Key) {
        guard asked[key]?.waiting.removeValue(forKey: ObjectIdentifier(wish)) != nil else { return }
        if asked[key]?.waiting.isEmpty == true { asked.removeValue(forKey: key)?.ticket.withdraw() }
    }

    private func came(_ answer: Answer, for key: Key) {
        guard let waiting = asked.removeValue(forKey: key)?.waiting else { return }
        for (_, done) in waiting.values { done(answer) }
    }
}
