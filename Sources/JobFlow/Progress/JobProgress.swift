package import DaemonRuntime
package import Foundation
import JobModel
package import OperationGraph

/// A job in progress as a tree of Foundation's `Progress`: the job is the root, and its current operations are the
/// children. Work beyond the next barrier has no operations yet, and counts as remaining work.
///
/// Each request builds a new tree on the coordination queue, and the tree never changes afterwards, because `Progress`
/// has flaws on Linux: it has no lock, its fractions lose precision with each change, and the fractions are wrong if a
/// total becomes zero.
@Coordination
package struct JobProgress {
    /// Number of units that each job contributes to the total of its batch.
    package static let units: Int64 = 1000

    package let job: Job
    package let whole = Progress.discreteProgress(totalUnitCount: units)
    /// The executing operation, and its progress.
    package private(set) var current: (operation: AsyncOperation, progress: Progress)?

    package init(_ job: Job, at time: Double) {
        self.job = job
        let (segment, segments) = (job.record.segment, job.segments)
        let (begin, end) = (Self.reached(segment, of: segments), Self.reached(segment + 1, of: segments))
        whole.completedUnitCount = begin
        let work: [AsyncOperation] = [job.download, job.render].compactMap(\.self)
        // Publishing is quick, so it gets a tenth. The preceding operations share the other nine tenths equally.
        let publishing = job.publish == nil ? 0 : (end - begin) / 10
        let share = (end - begin - publishing) / Int64(work.count)
        for operation in work { grow(operation, share, at: time) }
        if let publish = job.publish { grow(publish, end - begin - share * Int64(work.count), at: time) }
    }

    /// Returns the completed units of a job that has reached this barrier.
    package static func reached(_ segment: Int, of segments: Int) -> Int64 {
        units * Int64(segment) / Int64(max(1, segments))
    }

    private mutating func grow(_ operation: AsyncOperation, _ share: Int64, at time: Double) {
        let leaf = (operation as? any Measured)?.figures.progress(at: time) ?? .discreteProgress(totalUnitCount: 1)
        if operation.state == .finished {
            leaf.totalUnitCount = max(1, leaf.totalUnitCount)
            leaf.completedUnitCount = leaf.totalUnitCount
        } else if leaf.totalUnitCount > 0 {
            // An operation that has not finished must not look complete.
            leaf.completedUnitCount = min(leaf.completedUnitCount, leaf.totalUnitCount - 1)
        }
        whole.addChild(leaf, withPendingUnitCount: share)
        if operation.state == .executing { current = (operation, leaf) }
    }
}

/// An operation that reports its progress.
package protocol Measured {
    var figures: Figures { get }
}

extension DownloadOperation: Measured {}
extension RenderOperation: Measured {}

extension Figures {
    /// Returns the progress in bytes or pixels, which is indeterminate as long as the total is unknown.
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
