import Foundation
import PipelineModel

/// A job in work as a tree of Foundation's `Progress`: the job, and below it the operations it has now. What lies beyond its next barrier
/// is no operation yet, and counts as work to come.
///
/// Foundation's `Progress` has no lock on Linux, so all of a tree is touched on the supervisor's queue alone, and it is brought up to
/// date when somebody asks: nothing is done for it otherwise.
final class JobProgress {
    /// Of a job, and so of each job in its batch.
    static let units: Int64 = 1000

    let whole = Progress.discreteProgress(totalUnitCount: units)
    let segment: Int
    private var leaves: [(operation: AsyncOperation, progress: Progress)] = []

    init(_ job: Job) {
        segment = job.record.segment
        let segments = max(segment + 1, job.record.plan.segments.count)
        let (begin, end) = (Self.reached(segment, of: segments), Self.reached(segment + 1, of: segments))
        whole.completedUnitCount = begin
        // Publishing is quick; what comes before it shares the rest.
        let publishing = job.publish == nil ? 0 : (end - begin) / 10
        let work: [AsyncOperation] = [job.download, job.render].compactMap(\.self)
        let share = (end - begin - publishing) / Int64(work.count)
        for operation in work { grow(operation, share) }
        if let publish = job.publish { grow(publish, end - begin - share * Int64(work.count)) }
        update()
    }

    /// What a job has reached that has arrived at this barrier.
    static func reached(_ segment: Int, of segments: Int) -> Int64 { units * Int64(segment) / Int64(max(1, segments)) }

    private func grow(_ operation: AsyncOperation, _ share: Int64) {
        let leaf = Progress.discreteProgress(totalUnitCount: -1)
        if operation is DownloadOperation {
            leaf.kind = .file
            leaf.setUserInfoObject(Progress.FileOperationKind.downloading, forKey: .fileOperationKindKey)
        }
        whole.addChild(leaf, withPendingUnitCount: share)
        leaves.append((operation, leaf))
    }

    /// Brings the operations' figures into the tree.
    func update(at time: Double = Timestamp.now()) {
        for (operation, leaf) in leaves where !leaf.isFinished {
            let figures = (operation as? any Measured)?.figures
            if operation.state == .finished {
                let all = max(1, figures?.total ?? 1)
                leaf.totalUnitCount = all
                leaf.completedUnitCount = all
            } else if let figures {
                leaf.totalUnitCount = figures.total.map { max(1, $0) } ?? -1
                // What is finished leaves the tree for good, and an operation may begin once more.
                leaf.completedUnitCount = min(figures.done, figures.total.map { max(0, $0 - 1) } ?? figures.done)
                leaf.setUserInfoObject(figures.rate(at: time), forKey: .throughputKey)
                leaf.setUserInfoObject(figures.remaining(at: time), forKey: .estimatedTimeRemainingKey)
            }
        }
    }

    /// The operation that works now, and how far it is.
    var current: (operation: AsyncOperation, progress: Progress)? { leaves.first { $0.operation.state == .executing } }
}

/// An operation that tells how far it is.
protocol Measured {
    var figures: Figures { get }
}

extension DownloadOperation: Measured {}
extension RenderOperation: Measured {}
