package import JobModel
import PipelineModel
import SystemCalls

/// Chooses the names of a redo's results, which replace the job's earlier results.
extension Publisher {
    /// The results that a job has published before, and the staging folder of their outbox, to which withdrawn results
    /// are moved.
    package struct EarlierResults: Sendable {
        package var results: [PublishedFile]
        package var staging: String

        package init(results: [PublishedFile], staging: String) {
            (self.results, self.staging) = (results, staging)
        }
    }

    /// The job's earlier results, by their current state on the disk.
    struct EarlierResultsOnDisk: Sendable {
        /// Unchanged results, with their identities.
        fileprivate private(set) var own: [String: FileStatus.Identity] = [:]
        /// Results that somebody has changed, or may have changed.
        fileprivate private(set) var changed: [String] = []
        fileprivate let staging: String

        init(_ before: EarlierResults) throws(SystemError) {
            staging = before.staging
            for result in before.results {
                switch try result.standing() {
                case .same: own[result.path] = result.file
                case .changed, .unknown: changed.append(result.path)
                case .gone: break
                }
            }
        }

        /// Whether an unchanged earlier result of this job is at this path.
        func owns(_ path: String) -> Bool { own[path] != nil }

        func knowsAny(of paths: [String]) -> Bool { paths.contains { own[$0] != nil || changed.contains($0) } }

        /// The lowest number, not below `lowest`, for which `paths` returns the path of an earlier result. Such a
        /// number must occur in that path, so only the numbers in the paths of earlier results are tried.
        func number(from lowest: Int, _ paths: (Int) -> [String]) -> Int? {
            let read = (own.keys + changed).reduce(into: Set([lowest])) { $0.formUnion($1.numbers) }
            return read.filter { $0 >= lowest }.sorted().first { knowsAny(of: paths($0)) }
        }
    }

    /// Returns steps that replace earlier results with new results, and withdraw earlier results without a successor.
    /// An earlier result that somebody may have changed stays as it is, and its successor gets another name.
    ///
    /// `isFree` returns whether a path is available.
    func steps(
        _ staged: [ImageHandle.Staged], to targets: [String], _ former: EarlierResultsOnDisk,
        _ conflict: ConflictPolicy,
        _ isFree: (String) throws -> Bool
    ) throws -> PublishIntent {
        var steps: [PublishIntent.Step] = []
        for (result, name) in zip(staged, targets) {
            var (target, conflict) = (name, result.conflict(conflict))
            if former.changed.contains(name), conflict == .replace { conflict = .number }
            var number = 1
            while conflict == .number, try !isFree(target) {
                target = ResultName.numbered(name, number)
                number += 1
            }
            var step = try Self.step(result, to: target, conflict)
            step.replaces = former.own[target]
            steps.append(step)
        }
        let taken = Set(steps.map(\.target))
        let stem = staged.first.map { FileSystem.name(of: $0.path) } ?? ""
        let rest = former.own.filter { !taken.contains($0.key) }.sorted { $0.key < $1.key }
        for (index, (path, file)) in rest.enumerated() {
            let place = "\(former.staging)/\(stem).gone\(index)"
            var step = PublishIntent.Step(staging: place, target: path, conflict: .skip)
            step.replaces = file
            steps.append(step)
        }
        return PublishIntent(steps: steps, left: former.changed)
    }
}

extension String {
    /// All numbers that the text may contain. Other digits may directly precede or follow a number, so each part of a
    /// run of digits counts as a number.
    fileprivate var numbers: Set<Int> {
        var numbers: Set<Int> = []
        for digits in utf8.split(whereSeparator: { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            for start in digits.indices {
                var number = 0
                for digit in digits[start...] {
                    let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                    let (next, isFull) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
                    if isTooLarge || isFull { break }
                    number = next
                    numbers.insert(number)
                }
            }
        }
        return numbers
    }
}
