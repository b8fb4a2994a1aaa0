import DaemonRuntime
import Foundation
import PipelineModel

/// Asks the stream for pictures while there is room for them, on a thread of its own: one at a time, those of high
/// priority first.
final class Puller: Sendable {
    private let lines: Lines
    private let taking: Taking

    /// Pictures that come back to the stream are not announced. Nodes look at different times.
    private static let pause = 0.3...1.5
    private static let patience = Duration.seconds(5)

    init(_ lines: Lines, _ taking: Taking) { (self.lines, self.taking) = (lines, taking) }

    func start() {
        Thread.detachNewThread { [self] in
            while true {
                guard let line = lines.wait(while: { true }), let inbox = try? line.inbox() else { continue }
                while lines.current === line, !line.isClosed { pull(Engine(line: line), inbox) }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    private func pull(_ engine: Engine, _ inbox: LineInbox) {
        guard taking.hasRoom else { return taking.news.wait() }
        if let turn = taking.turnOfOthers {
            _ = taking.news.wait(timeout: .now() + turn.dispatch)
            return
        }
        guard !Priority.allCases.sorted(by: >).contains(where: { takes($0, engine, inbox) }) else { return }
        _ = taking.news.wait(timeout: .now() + .random(in: Self.pause))
    }

    /// Returns whether something has come.
    private func takes(_ priority: Priority, _ engine: Engine, _ inbox: LineInbox) -> Bool {
        do {
            try engine.pull(priority, to: inbox)
            guard let message = try inbox.next(within: Self.patience) else { return false }
            // A message without a way back says that there is nothing.
            guard message.reply != nil else { return false }
            taking.consider(message, engine)
            return true
        } catch {
            // The line is lost, or will be tried again soon.
            return false
        }
    }
}
