package import DaemonInterface
package import DaemonRuntime
import PictureFiles
package import PipelineModel
import ServiceProgram
import SystemCalls
package import WorkerPools
import WorkerProtocol

/// Lends a test picture to one node, and lets a local worker verify the result.
@Coordination
package final class NodeCheck {
    private let node: String
    private let pool: WorkerPool
    private let settings: Settings
    private let done: @Coordination (NodeCheckOutcome) -> Void
    private var task: RenderTask?
    private let start = ContinuousClock.now
    private var accepted: Duration?
    /// Counts the steps, so that the timeout of a finished step does nothing.
    private var steps = 0

    private nonisolated static let patienceForPlace = Duration.seconds(10)
    private nonisolated static let patienceForResult = Duration.seconds(20)

    package init(
        _ node: String, _ pool: WorkerPool, _ settings: Settings,
        done: @escaping @Coordination (NodeCheckOutcome) -> Void
    ) {
        (self.node, self.pool, self.settings, self.done) = (node, pool, settings, done)
    }

    package func begin() {
        do {
            let (source, target) = (try Descriptor.memory(TestPicture.bytes), try Descriptor.memory([]))
            let lending = Lending(
                priority: .high, bytes: .sources([Int64(TestPicture.bytes.count)]), only: node,
                lent: { node in Coordination.assumeIsolated { [self] in isLent(to: node) } }, downloaded: { _ in })
            run(TestPicture.output, from: source, into: target, lending) { [self] result, _ in
                returned(result, in: target)
            }
            expire(after: Self.patienceForPlace)
        } catch {
            done(.failed("\(error)"))
        }
    }

    package func cancel() {
        if let task { pool.cancel(task) }
    }

    private func run(
        _ output: RenderOutput, from source: Descriptor, into target: Descriptor, _ lending: Lending?,
        ended: @escaping @Coordination (Result<[RenderedOutput], RenderTask.Failure>, PictureHeader?) -> Void
    ) {
        var header: PictureHeader?
        let task = RenderTask(
            .init(name: TestPicture.name, outputs: [output]),
            limits: .init(settings, onTruncated: .fail, raw: .preview),
            files: .init(from: [source], into: [target]), terms: .init(lending: lending),
            reports: .init(opened: { seen in Coordination.assumeIsolated { header = seen } }),
            done: { result in
                Coordination.assumeIsolated { [self] in
                    self.task = nil
                    steps += 1
                    ended(result, header)
                }
            })
        self.task = task
        pool.run(task)
    }

    private func expire(after patience: Duration) {
        steps += 1
        let mine = steps
        Coordination.after(patience) { [weak self] in
            if let self, steps == mine { cancel() }
        }
    }

    /// A nil node means that the picture waits for a place.
    private func isLent(to node: String?) {
        guard node != nil, accepted == nil else { return }
        accepted = start.duration(to: .now)
        expire(after: Self.patienceForResult)
    }

    private func returned(_ result: Result<[RenderedOutput], RenderTask.Failure>, in target: Descriptor) {
        switch result {
        case .success: verify(target, delivered: start.duration(to: .now))
        case .failure(.notLent(.refused(let reason))): done(.refused(reason))
        case .failure(.notLent): done(.silent)
        case .failure(.cancelled):
            done(
                accepted == nil
                    ? .noPlace(within: Self.patienceForPlace) : .noResult(within: Self.patienceForResult))
        case .failure(let failure): done(.failed(Self.words(failure)))
        }
    }

    /// Lets a worker read the whole result. The supervisor does not read the result itself, because the bytes come from
    /// another machine.
    private func verify(_ result: Descriptor, delivered: Duration) {
        do {
            run(TestPicture.proof, from: result, into: try Descriptor.memory([]), nil) { [self] result, header in
                switch result {
                case .success where header.map(TestPicture.isResult) == true:
                    done(.ok(accepted: accepted ?? delivered, delivered: delivered))
                case .success: done(.failed("its result is not what the chain makes"))
                case .failure(let failure): done(.failed("its result can't be read: \(Self.words(failure))"))
                }
            }
            expire(after: Self.patienceForPlace)
        } catch {
            done(.failed("\(error)"))
        }
    }

    private static func words(_ failure: RenderTask.Failure) -> String {
        guard let failure = JobFailure(failure, atTry: 1) else { return "no worker here had time for it" }
        return failure.message + (failure.advice.map { "; \($0)" } ?? "")
    }
}
