import DaemonInterface
import DaemonRuntime
import PipelineControl
import ServiceProgram
import Synchronization

/// A request that is answered once a change is in the ledger.
struct WritingRequest: Sendable {
    let request: ControlRequest
    /// The effect that the call has even if the ledger can't record it; nil if the call has no such effect. The error
    /// message mentions this effect.
    let effect: String?
}

/// While the ledger can't be written, immediately rejects calls that change it.
extension ControlService {
    /// Calls `body` if the ledger is writable. The request fails if the ledger is not writable, or becomes unwritable
    /// before the request is answered.
    func whenWritable(_ request: ControlRequest, _ body: @escaping @Coordination @Sendable () throws -> Void) {
        write(for: request)
        daemon.tryWriting { [self] isWritable in
            guard isWritable else { return refuse(request) }
            Coordination.async {
                do { try body() } catch { request.fail(error) }
            }
        }
    }

    /// Makes the request fail as soon as the ledger can't be written, unless the request has been answered.
    func write(for request: ControlRequest, but effect: String? = nil) {
        writing.withLock { writing in
            writing.removeAll(where: \.request.isAnswered)
            writing.append(WritingRequest(request: request, effect: effect))
        }
        refuseWriting()
    }

    /// Makes all unanswered requests fail if the ledger can't be written now.
    package func refuseWriting() {
        guard daemon.unwritableReason != nil else { return }
        let waiting = writing.withLock { writing in
            defer { writing = [] }
            return writing
        }
        for one in waiting { refuse(one.request, but: one.effect) }
    }

    private func refuse(_ request: ControlRequest, but effect: String? = nil) {
        let outcome = effect.map { "\($0), but that can't be recorded, and may not outlive a restart: " } ?? ""
        let reason = daemon.unwritableReason ?? "the ledger could not be written for a moment"
        request.fail(
            ControlError.refused(
                "\(outcome)\(reason); look after the disk of \(daemon.ownFolders.state), where `pipectl clean` can make room, then "
                    + "try again"))
    }
}
