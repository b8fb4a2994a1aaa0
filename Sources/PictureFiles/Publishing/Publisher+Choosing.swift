import Glibc
package import JobModel
package import PipelineModel
import Synchronization
import SystemCalls

/// Chooses the final names of results.
extension Publisher {
    /// Chooses the final names, and creates their folders. `before` contains the results that the job has already
    /// published, and is nil unless this is a redo.
    package func choose(
        _ staged: [ImageHandle.Staged], order: WorkOrder, path: String, facts: NameFacts = NameFacts(),
        replacing before: EarlierResults? = nil
    ) throws -> Publication {
        let name = ResultName(order: order, path: path, facts: facts)
        try name.check(staged)
        let former = try before.map(EarlierResultsOnDisk.init)
        let publication = try line(of: order.outbox).reserved.withLock { reserved in
            let isFree = { target in
                try former?.owns(target) == true || (!reserved.contains(target) && !FileSystem.exists(target))
            }
            let targets = try self.targets(staged, name, order.conflict, former, isFree)
            guard let former else {
                // Under `skip`, the rename detects that a name is taken, and leaves the result in staging.
                let steps = try zip(staged, targets).map { try Self.step($0, to: $1, $0.conflict(order.conflict)) }
                let names = steps.filter { $0.conflict == .number }.map(\.target)
                return Publication(
                    intent: PublishIntent(steps: steps), results: staged, reserved: reserved.take(names),
                    outbox: order.outbox)
            }
            let intent = try self.steps(staged, to: targets, former, order.conflict, isFree)
            return Publication(
                intent: intent, results: staged, reserved: reserved.take(intent.steps.map(\.target)),
                outbox: order.outbox)
        }
        do {
            for folder in Set(publication.intent.steps.map { FileSystem.folder(of: $0.target) }) {
                try FileSystem.makeFolders(folder, durable: true)
            }
        } catch {
            release(publication)
            throw error
        }
        return publication
    }

    package static func step(
        _ staged: ImageHandle.Staged, to target: String, _ conflict: ConflictPolicy
    ) throws -> PublishIntent.Step {
        // If `file` were nil, the step could be mistaken for a withdrawal.
        guard let file = try FileSystem.status(staged.path)?.identity else {
            throw SystemError("lstat", staged.path, code: ENOENT)
        }
        return PublishIntent.Step(staging: staged.path, target: target, conflict: conflict, file: file)
    }

    /// The paths for all results. Reuses the paths of the job's earlier results, if there are any; otherwise chooses
    /// free paths.
    private func targets(
        _ staged: [ImageHandle.Staged], _ name: ResultName, _ conflict: ConflictPolicy, _ former: EarlierResultsOnDisk?,
        _ isFree: (String) throws -> Bool
    ) throws -> [String] {
        let counted = staged.filter(\.isCounted)
        let numbered = conflict == .number ? staged.filter { !$0.isCounted } : []
        func path(_ file: ImageHandle.Staged, _ counter: Int) -> String {
            name.path(file, of: staged, number: 0, counter: counter)
        }
        let counter: Int? =
            try counted.isEmpty
            ? nil
            : former?.number(from: 1) { counter in counted.map { path($0, counter) } }
                ?? Self.firstNumber { counter in try counted.allSatisfy { try isFree(path($0, counter)) } }
        func paths(_ number: Int) -> [String] {
            numbered.map { name.path($0, of: staged, number: number, counter: counter) }
        }
        var number = former?.number(from: 0, paths) ?? 0
        if former?.knowsAny(of: paths(number)) != true {
            while try !paths(number).allSatisfy(isFree) { number += 1 }
        }
        return staged.map { name.path($0, of: staged, number: $0.isCounted ? 0 : number, counter: counter) }
    }

    /// Returns 1 if 1 is free, otherwise a free number whose predecessor is taken. Doubling and bisection find the end
    /// of a long series of taken numbers in a few steps.
    private static func firstNumber(_ isFree: (Int) throws -> Bool) rethrows -> Int {
        var (taken, free) = (0, 1)
        while try !isFree(free) { (taken, free) = (free, 2 * free) }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if try isFree(middle) { free = middle } else { taken = middle }
        }
        return free
    }
}

extension Set<String> {
    /// Reserves these names. Returns the names that were not reserved before, by this publication or another one.
    fileprivate mutating func take(_ names: [String]) -> Set<String> {
        let new = Set(names).subtracting(self)
        formUnion(new)
        return new
    }
}

extension ImageHandle.Staged {
    fileprivate var isCounted: Bool { picture.naming?.asks(for: .counter) ?? false }

    /// A result with a counter in its name always gets a free name, whatever `Conflict=` says.
    package func conflict(_ policy: ConflictPolicy) -> ConflictPolicy { isCounted ? .number : policy }
}
