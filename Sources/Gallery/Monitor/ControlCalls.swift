import Dispatch
import Glibc
import PipelineControl
import Synchronization
import SystemCalls

/// Asks the daemon, for a few callers at once.
final class ControlCalls: Sendable {
    /// Callers beyond these are refused: a daemon that hangs must not cost a thread for each request.
    private static let most = 8
    /// How many seconds the daemon may say nothing.
    private static let patience = 10

    private let path: String
    private let running = Mutex(0)

    init(path: String) { self.path = path }

    /// Calls `done` once, on any thread.
    func call<Call: ControlCall>(_ call: Call, _ done: @escaping @Sendable (Result<Call.Reply, NoAnswer>) -> Void) {
        let isFree = running.withLock { running in
            guard running < Self.most else { return false }
            running += 1
            return true
        }
        guard isFree else { return done(.failure(NoAnswer(description: "too many ask the daemon at once; try again"))) }
        // A queue for each: Dispatch looks at the threads of concurrent ones every second, for ever after.
        DispatchQueue(label: "pipelined-gallery.call").async { [self] in
            let answer = answer(to: call)
            running.withLock { $0 -= 1 }
            done(answer)
        }
    }

    private func answer<Call: ControlCall>(to call: Call) -> Result<Call.Reply, NoAnswer> {
        do {
            let client = try ControlClient(path: path)
            client.wait(atMost: Self.patience)
            return .success(try client.call(call))
        } catch let error as SystemError where error.code == EAGAIN {
            return .failure(NoAnswer(description: "the daemon has said nothing for \(Self.patience) s"))
        } catch let error as SystemError {
            return .failure(NoAnswer(description: "no daemon answers at \(path): \(error.reason)"))
        } catch {
            return .failure(NoAnswer(description: "the daemon at \(path) does not answer: \(error)"))
        }
    }
}

/// Why the daemon has not answered.
struct NoAnswer: Error, CustomStringConvertible {
    let description: String
}
