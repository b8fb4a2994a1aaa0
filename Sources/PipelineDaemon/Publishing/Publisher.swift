import Dispatch
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// The steps that bring results into an outbox: durable files first, then the intent, then the renames. Blocking; called where waiting
/// for a disk is no harm.
final class Publisher: Sendable {
    /// The renames of a job, with names that no other job in flight has chosen.
    struct Publication: Sendable {
        var intent: PublishIntent
        var results: [ImageHandle.Staged]
        /// Outputs that `Conflict=skip` left out, because their name is taken.
        var skipped: [String]
    }

    struct Published: Sendable {
        var path: String
        var picture: JobStory.Picture?
    }

    private let reserved = Mutex<Set<String>>([])

    /// Step 1: the staging files, and their folder, survive a power cut.
    func makeDurable(_ staged: [ImageHandle.Staged]) throws {
        for file in staged { try FileSystem.sync(file.path) }
        for folder in Set(staged.map { FileSystem.folder(of: $0.path) }) { try FileSystem.sync(folder) }
    }

    /// Chooses the final names, and makes their folders.
    func choose(_ staged: [ImageHandle.Staged], order: WorkOrder, path: String) throws -> Publication {
        let name = ResultName(order: order, path: path)
        try FileSystem.makeFolders(name.folder)
        if order.conflict != .number {
            let targets = staged.map { name.path($0, number: 0) }
            let free = targets.map { order.conflict == .replace || !FileSystem.exists($0) }
            let kept = zip(zip(staged, targets), free).filter(\.1).map(\.0)
            for (file, isFree) in zip(staged, free) where !isFree { try FileSystem.remove(file.path) }
            return Publication(
                intent: PublishIntent(
                    steps: kept.map {
                        .init(staging: $0.0.path, target: $0.1, replaces: order.conflict == .replace)
                    }), results: kept.map(\.0), skipped: zip(targets, free).filter { !$0.1 }.map(\.0))
        }
        let steps = reserved.withLock { reserved in
            for number in 0... {
                let targets = staged.map { name.path($0, number: number) }
                if targets.allSatisfy({ !reserved.contains($0) && !FileSystem.exists($0) }) {
                    reserved.formUnion(targets)
                    return zip(staged, targets).map {
                        PublishIntent.Step(staging: $0.path, target: $1, replaces: false)
                    }
                }
            }
            return []
        }
        return Publication(intent: PublishIntent(steps: steps), results: staged, skipped: [])
    }

    /// Steps 3 and 4: the renames, and the outbox folders made durable. When somebody else has taken a name in the meantime, another is
    /// chosen, and recorded by `rerecord` before it is used.
    func publish(
        _ publication: Publication, rerecord: (PublishIntent, @escaping @Sendable () -> Void) -> Void
    ) throws -> [Published] {
        defer { release(publication) }
        var intent = publication.intent
        for index in intent.steps.indices {
            while try !Self.rename(intent.steps[index]) {
                intent.steps[index].target = Self.numbered(intent.steps[index].target)
                let recorded = DispatchSemaphore(value: 0)
                rerecord(intent) { recorded.signal() }
                recorded.wait()
            }
        }
        for folder in Set(intent.steps.map { FileSystem.folder(of: $0.target) }) { try FileSystem.sync(folder) }
        return zip(intent.steps, publication.results).map {
            Published(
                path: $0.target,
                picture: $1.result.map {
                    JobStory.Picture(format: $0.format, width: $0.width, height: $0.height, bytes: Int($0.bytes))
                })
        }
    }

    /// Finishes what a crash interrupted: a staging file that is gone was published, one that is there is renamed now.
    func recover(_ intent: PublishIntent) throws -> [Published] {
        var published: [Published] = []
        for var step in intent.steps {
            if FileSystem.exists(step.staging) {
                while try !Self.rename(step) { step.target = Self.numbered(step.target) }
            }
            published.append(Published(path: step.target))
        }
        for folder in Set(published.map { FileSystem.folder(of: $0.path) }) { try FileSystem.sync(folder) }
        return published
    }

    /// The names may be chosen again.
    func release(_ publication: Publication) {
        reserved.withLock { $0.subtract(publication.intent.steps.map(\.target)) }
    }

    func discard(_ staged: [ImageHandle.Staged]) {
        for file in staged { try? FileSystem.remove(file.path) }
    }

    /// False when the name is taken.
    private static func rename(_ step: PublishIntent.Step) throws -> Bool {
        if step.replaces {
            try FileSystem.rename(step.staging, step.target)
            return true
        }
        do {
            try FileSystem.renameWithoutReplacing(step.staging, step.target)
            return true
        } catch  where error.isTaken {
            return false
        }
    }

    private static func numbered(_ target: String) -> String {
        var number = 1
        while FileSystem.exists(ResultName.numbered(target, number)) { number += 1 }
        return ResultName.numbered(target, number)
    }
}
