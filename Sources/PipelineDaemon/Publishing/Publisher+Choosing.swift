import JobLedger
import PipelineModel
import Synchronization
import SystemCalls

/// The choice of final names.
extension Publisher {
    /// Chooses the final names, and makes their folders.
    func choose(
        _ staged: [ImageHandle.Staged], order: WorkOrder, path: String, facts: NameFacts = NameFacts()
    ) throws -> Publication {
        let name = ResultName(order: order, path: path, facts: facts)
        try name.check(staged)
        let steps = try reserved.withLock { reserved in
            let steps = try self.steps(staged, name, order.conflict) { target in
                try !reserved.contains(target) && !FileSystem.exists(target)
            }
            reserved.formUnion(steps.filter { $0.conflict == .number }.map(\.target))
            return steps
        }
        let publication = Publication(intent: PublishIntent(steps: steps), results: staged)
        do {
            for folder in Set(steps.map { FileSystem.folder(of: $0.target) }) {
                try FileSystem.makeFolders(folder, durable: true)
            }
        } catch {
            release(publication)
            throw error
        }
        return publication
    }

    /// The renames to free names. A name that is taken under `skip` is met at the rename, and left out there.
    private func steps(
        _ staged: [ImageHandle.Staged], _ name: ResultName, _ conflict: ConflictPolicy,
        _ isFree: (String) throws -> Bool
    ) throws -> [PublishIntent.Step] {
        let counted = staged.filter(\.isCounted)
        let counter =
            try counted.isEmpty
            ? nil
            : Self.firstNumber { counter in
                try counted.allSatisfy { try isFree(name.path($0, of: staged, number: 0, counter: counter)) }
            }
        let numbered = conflict == .number ? staged.filter { !$0.isCounted } : []
        var number = 0
        while try !numbered.allSatisfy({ try isFree(name.path($0, of: staged, number: number, counter: counter)) }) {
            number += 1
        }
        return try staged.map { file in
            // A counter finds a free name, whatever `Conflict=` says of a taken one.
            PublishIntent.Step(
                staging: file.path,
                target: name.path(file, of: staged, number: file.isCounted ? 0 : number, counter: counter),
                conflict: file.isCounted ? .number : conflict, file: try FileSystem.status(file.path)?.identity)
        }
    }

    /// A free number behind a taken one, or 1: the end of a long row is found in a few steps.
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

extension ImageHandle.Staged {
    fileprivate var isCounted: Bool { picture.naming?.asks(for: .counter) ?? false }
}
