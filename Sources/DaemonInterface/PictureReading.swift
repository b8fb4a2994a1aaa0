package import DaemonRuntime
package import JobModel
package import PipelineModel
package import SystemCalls
import WorkerProtocol

/// Shows pictures, and tries chains. The ledger records none of these calls.
@Coordination
package protocol PictureReading {
    /// Explains what the daemon does with a file, or with a chain.
    func explain(_ question: ExplainQuestion, done: @escaping Done<Result<ExplainAnswer, ExplainFailure>>)
    /// Renders a picture with several chains. Trials run one after another.
    func tryChains(_ wish: TrialWish, done: @escaping Done<TrialOutcome>) -> Withdrawal
    /// Makes a preview of the job's result with the number `result`, from 1, or of its original if `result` is nil. The
    /// preview is at most `size` pixels wide and high.
    func preview(
        _ result: Int?, of job: JobRecord, size: Int,
        done: @escaping @Sendable (Result<OpenedPicture, any Error>) -> Void
    ) -> Withdrawal
    /// The lane on which to open a job's picture. The picture's disk may block.
    func lane(of result: Int?, of job: JobRecord) -> FileLane
    /// Opens a job's picture. Blocks on its disk.
    nonisolated func open(_ result: Int?, of job: JobRecord) throws -> OpenedPicture
}

package typealias OpenedPicture = (name: String, file: Descriptor)

/// A client's question about a file, a chain, or both.
package struct ExplainQuestion: Sendable {
    package var file: String?
    /// The work order that has been made from the client's chain; nil if the client asks about the recipe.
    package var chain: WorkOrder?
    /// The status of the file; nil if the file is missing, or if its disk reports an error.
    package var status: FileStatus?
    /// Whether the file may exist. True after a disk error, which does not prove that the file is missing.
    package var mayExist: Bool
    /// The open file, so that a worker can read its header. The header decides the decoder path.
    package var opened: Descriptor?

    package init(file: String?, chain: WorkOrder?, status: FileStatus?, mayExist: Bool, opened: Descriptor?) {
        (self.file, self.chain, self.status, self.mayExist) = (file, chain, status, mayExist)
        self.opened = opened
    }
}

/// An answer that explains what the daemon does with a file, or with a chain.
package struct ExplainAnswer: Sendable {
    package var recipe: String?
    package var why: String
    /// The order for the picture; nil if the daemon does nothing with the file.
    package var order: WorkOrder?
    /// The operations that run; empty if no operation runs.
    package var operations: [PlannedOperation] = []
    /// The job to which the file belongs.
    package var job: JobRecord?
    package var names: [(output: String?, name: String)] = []
    /// The date that the names contain.
    package var date: String?
    /// A description of the picture's header.
    package var picture: String?
    /// How each output decodes the picture. If the output makes no result from this picture, `unwanted` says why.
    package var decode: [(output: String?, path: String, unwanted: String?)] = []
    /// Why the header could not be read.
    package var problem: String?

    package init(recipe: String? = nil, why: String, order: WorkOrder? = nil) {
        (self.recipe, self.why, self.order) = (recipe, why, order)
    }
}

package enum ExplainFailure: Error {
    case noFile(String)
    /// The ledger can't be read.
    case unread(any Error)
}
