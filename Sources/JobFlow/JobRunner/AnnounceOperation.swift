import Foundation
package import OperationGraph
import PipelineModel

/// Appends the end of a job, or news of a batch, to the event log. Readers follow the log by cursor, so none of them
/// delays it.
package final class AnnounceOperation: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: all its properties are constant.

    private let append: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `append` calls its argument when the next event may be appended.
    init(append: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.append = append
    }

    package override func execute() {
        append { [self] in finish(.finished) }
    }
}
