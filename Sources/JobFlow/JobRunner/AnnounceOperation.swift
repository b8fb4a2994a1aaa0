import Foundation
package import OperationGraph
import PipelineModel

/// Appends to the event log what has become of a picture, or of a batch. Readers follow the log by cursor, so none of them delays it.
package final class AnnounceOperation: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: everything it holds is constant.

    private let append: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `append` calls what it is given when the next may be appended.
    init(append: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.append = append
    }

    package override func execute() {
        append { [self] in finish(.finished) }
    }
}
