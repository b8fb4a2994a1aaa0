package import DaemonRuntime
package import Foundation
import JobLedger
package import OperationGraph
import PipelineModel

/// A job in work as a tree of Foundation's `Progress`: the job, and below it the operations it has now. Work beyond its
/// next barrier is no operation yet, and counts as work to come.
///
/// A tree is grown from the figures whenever somebody asks, and not kept. On Linux `Progress` has no lock; and its
/// fractions, which are exact as they are put together, lose a little at each change, and can't bear a total that
/// becomes zero. So all of it is done on the coordination queue, nothing is changed once it is a child, and nothing is
/// done while nobody asks.
@Coordination
package struct JobProgress {
    /// The units of a job, and so of each job in its batch.
    package static let units: Int64 = 1000

    package let job: Job
    package let whole = Progress.discreteProgress(totalUnitCount: units)
    /// The operation that works now, and how far it is.
    package private(set) var current: (operation: AsyncOperation, progress: Progress)?

    package init(_ job: Job, at time: Double) {
        self.job = job
        let (segment, segments) = (job.record.segment, job.segments)
        let (begin, end) = (Self.reached(segment, of: segments), Self.reached(segment + 1, of: segments))
        whole.completedUnitCount = begin
        let work: [AsyncOperation] = [job.download, job.render].compactMap(\.self)
        // Publishing is quick; what comes before it shares the rest.
        let publishing = job.publish == nil ? 0 : (end - begin) / 10
        let share = (end - begin - publishing) / Int64(work.count)
        for operation in work { grow(operation, share, at: time) }
        if let publish = job.publish { grow(publish, end - begin - share * Int64(work.count), at: time) }
    }

    /// The units of a job that has arrived at this barrier.
    package static func reached(_ segment: Int, of segments: Int) -> Int64 {
        units * Int64(segment) / Int64(max(1, segments))
    }

    private mutating func grow(_ operation: AsyncOperation, _ share: Int64, at time: Double) {
        let leaf = (operation as? any Measured)?.figures.progress(at: time) ?? .discreteProgress(totalUnitCount: 1)
        if operation.state == .finished {
            leaf.totalUnitCount = max(1, leaf.totalUnitCount)
            leaf.completedUnitCount = leaf.totalUnitCount
        } else if leaf.totalUnitCount > 0 {
            // It is not finished before it says so.
            leaf.completedUnitCount = min(leaf.completedUnitCount, leaf.totalUnitCount - 1)
        }
        whole.addChild(leaf, withPendingUnitCount: share)
        if operation.state == .executing { current = (operation, leaf) }
    }
}

/// An operation that tells how far it is.
package protocol Measured {
    var figures: Figures { get }
}

extension DownloadOperation: Measured {}
extension RenderOperation: Measured {}

extension Figures {
    /// In bytes or pixels; indeterminate as long as nobody knows of how many.
    fileprivate func progress(at time: Double) -> Progress {
        let progress = Progress.discreteProgress(totalUnitCount: total.map { max(1, $0) } ?? -1)
        progress.completedUnitCount = max(0, done(at: time))
        progress.setUserInfoObject(rate(at: time), forKey: .throughputKey)
        progress.setUserInfoObject(remaining(at: time), forKey: .estimatedTimeRemainingKey)
        guard unit == .bytes else { return progress }
        progress.kind = .file
        progress.setUserInfoObject(Progress.FileOperationKind.downloading, forKey: .fileOperationKindKey)
        return progress
    }
}
