import Dispatch
import Glibc
package import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import WorkerPools

/// Publishes results in an outbox: makes the files durable, records the intent, then renames the files. The calls
/// block, so callers must use threads that may wait for a disk.
package final class Publisher: Sendable {
    /// The renames that publish a job's results. No other job in flight has chosen the same names.
    package struct Publication: Sendable {
        package var intent: PublishIntent
        package var results: [ImageHandle.Staged]
        /// The names that this publication has reserved in its outbox.
        package var reserved: Set<String>
        package var outbox: String
    }

    package struct Published: Sendable, Equatable {
        var step: PublishIntent.Step
        var picture: JobStory.Picture?

        var path: String { step.target }
        var file: PublishedFile { PublishedFile(path: step.target, file: step.file) }
    }

    package struct Outcome: Sendable, Equatable {
        package var published: [Published] = []
        /// Earlier results that stay in the outbox because somebody has changed them.
        package var left: [String] = []
        /// Folders that the renames have changed.
        package fileprivate(set) var folders: Set<String> = []

        package init(published: [Published] = [], left: [String] = [], folders: Set<String> = []) {
            (self.published, self.left, self.folders) = (published, left, folders)
        }

        fileprivate mutating func add(_ step: PublishIntent.Step, _ picture: JobStory.Picture?) {
            folders.insert(FileSystem.folder(of: step.target))
            guard !step.isWithdrawal else {
                // A withdrawal moves the earlier result to staging. This rename is certain to be durable only once the
                // staging folder is synced, too.
                folders.insert(FileSystem.folder(of: step.staging))
                return
            }
            published.append(Published(step: step, picture: picture))
        }
    }

    /// Records an intent, then reports whether it is durable.
    package typealias Record = (PublishIntent, @escaping @Sendable (Bool) -> Void) -> Void

    private let lines = Mutex<[String: OutboxLine]>([:])
    /// Called while many results arrive together; returns whether to wait for the results of other jobs in flight.
    private let awaitsOthers: @Sendable () -> Bool

    package init(awaitsOthers: @escaping @Sendable () -> Bool = { false }) { self.awaitsOthers = awaitsOthers }

    package func line(of outbox: String) -> OutboxLine {
        lines.withLock { lines in
            if let line = lines[outbox] { return line }
            let line = OutboxLine(awaitsOthers: awaitsOthers)
            lines[outbox] = line
            return line
        }
    }

    /// Renames the files. Call this only when the files are durable and the intent is recorded. If somebody else has
    /// taken a name meanwhile, chooses another name, and records it with `rerecord` before using it. If a rename fails,
    /// reverts the earlier renames.
    package func publish(_ publication: Publication, rerecord: Record) throws -> Outcome {
        defer { release(publication) }
        var intent = publication.intent
        var outcome = Outcome()
        do {
            // The first steps publish the new results. Any further steps withdraw earlier results that have no
            // successor.
            for index in intent.steps.indices {
                let isPublished = try Self.rename(index, of: &intent, rerecord)
                // A result that `skip` leaves out stays in staging until the job's end is recorded. From that file, a
                // recovery can tell that the result was not published.
                if !isPublished { continue }
                let isResult = publication.results.indices.contains(index)
                outcome.add(intent.steps[index], isResult ? publication.results[index].inStory : nil)
            }
        } catch {
            try? moveBack(intent)
            throw error
        }
        outcome.left = intent.left ?? []
        return outcome
    }

    /// Completes an interrupted publication. A result without a staging file has already been published. Each staging
    /// file that still exists is renamed now. Returns nil if the results are lost (see `isLost`).
    package func recover(_ intent: PublishIntent, rerecord: Record = { $1(true) }) throws -> Outcome? {
        if try isLost(intent) { return nil }
        var intent = intent
        var outcome = Outcome()
        do {
            for index in intent.steps.indices {
                let step = intent.steps[index]
                if step.replaces != nil {
                    guard try Self.rename(index, of: &intent, rerecord) else { continue }
                } else if try FileSystem.exists(step.staging), try !Self.finish(step),
                    try !Self.rename(index, of: &intent, rerecord)
                {
                    continue
                }
                if intent.steps[index].file == nil, intent.steps[index].replaces == nil {
                    intent.steps[index].file = try FileSystem.status(intent.steps[index].target)?.identity.onAnyDevice
                }
                outcome.add(intent.steps[index], nil)
            }
            for folder in outcome.folders where try FileSystem.exists(folder) { try FileSystem.sync(folder) }
            outcome.left = intent.left ?? []
            return outcome
        } catch {
            try? moveBack(intent)
            throw error
        }
    }

    /// Whether the new results are lost: neither staging files nor published results exist, or an earlier result is
    /// still in place and its successor is gone. In the second case, moves all other results back.
    private func isLost(_ intent: PublishIntent) throws -> Bool {
        if try intent.steps.contains(where: { try Replacement($0)?.isLost ?? false }) {
            try moveBack(intent)
            return true
        }
        return try intent.steps.allSatisfy { try !FileSystem.exists($0.staging) && !FileSystem.exists($0.target) }
    }

    /// Reverts a publication, because a job publishes either all of its outputs or none. Moves published results back
    /// to staging, and the job's earlier results back into the outbox. If a result has replaced somebody else's file,
    /// that file is gone, so the result stays. A result that somebody has changed stays as well. Removes the emptied
    /// folders, and makes all changes durable. The call may be repeated as long as the intent is recorded.
    package func takeBack(_ intent: PublishIntent) throws {
        try moveBack(intent)
        let gone = try intent.steps.filter { try FileSystem.exists($0.staging) && !FileSystem.exists($0.target) }
        OutboxFolders.removeEmpty(around: gone)
        try OutboxFolders.sync(
            intent.steps.filter { try FileSystem.exists($0.staging) || FileSystem.exists($0.target) })
    }

    /// Moves the results back as `takeBack` does, but syncs nothing, and keeps the emptied folders, because the next
    /// attempt needs these folders.
    private func moveBack(_ intent: PublishIntent) throws {
        for step in intent.steps {
            if let replacement = Replacement(step) {
                try replacement.takeBack()
            } else if step.conflict == .replace {
                continue
            } else if try FileSystem.exists(step.staging) {
                if try FileSystem.isPlaceholder(step.target) { try FileSystem.remove(step.target) }
            } else if try [.same, .unknown].contains(PublishedFile(path: step.target, file: step.file).standing()) {
                try FileSystem.makeFolders(FileSystem.folder(of: step.staging))
                try FileSystem.renameWithoutReplacing(step.target, step.staging, inOwn: true)
            }
        }
    }

    /// Completes a rename that took several steps and was interrupted by a crash. Returns true if the result has its
    /// final name.
    private static func finish(_ step: PublishIntent.Step) throws -> Bool {
        guard step.conflict != .replace, try FileSystem.exists(step.target) else { return false }
        if try FileSystem.isPlaceholder(step.target) {
            try FileSystem.remove(step.target)
            return false
        }
        // The result may already be linked at its final name, and still be in staging. The contents are compared,
        // because inode numbers are unreliable on some file systems.
        let staged = try Descriptor.open(step.staging, O_RDONLY | O_NOFOLLOW)
        guard try FileSystem.isCopy(step.target, of: staged) else { return false }
        try FileSystem.remove(step.staging)
        return true
    }

    /// Performs one step. Returns false if the name is taken and the policy allows no other name.
    private static func rename(_ index: Int, of intent: inout PublishIntent, _ rerecord: Record) throws -> Bool {
        if let replacement = Replacement(intent.steps[index]) {
            if try replacement.perform() { return true }
            try intent.leave(index)
            if intent.steps[index].isWithdrawal { return false }
            intent.steps[index].replaces = nil
            if intent.steps[index].conflict == .replace { intent.steps[index].conflict = .number }
        }
        while try !rename(intent.steps[index]) {
            guard intent.steps[index].conflict == .number else { return false }
            try chooseAnother(index, of: &intent, rerecord)
        }
        return true
    }

    /// Chooses a free name, and records it before it is used.
    private static func chooseAnother(_ index: Int, of intent: inout PublishIntent, _ rerecord: Record) throws {
        var other = intent
        other.steps[index].target = try numbered(intent.steps[index].target)
        let isRecorded = Mutex(false)
        let answered = DispatchSemaphore(value: 0)
        rerecord(other) { durable in
            isRecorded.withLock { $0 = durable }
            answered.signal()
        }
        answered.wait()
        guard isRecorded.withLock({ $0 }) else { throw JobFailure.unrecordedIntent }
        intent = other
    }

    /// After a recorded publication, removes from staging the results that were replaced, withdrawn or left out.
    package func discard(_ intent: PublishIntent) {
        for step in intent.steps {
            UnneededFile.remove(step.staging)
            if step.replaces != nil { UnneededFile.remove(step.aside) }
        }
        OutboxFolders.removeEmpty(around: intent.steps.filter(\.isWithdrawal))
    }

    /// Makes the reserved names available again.
    package func release(_ publication: Publication) {
        line(of: publication.outbox).reserved.withLock { $0.subtract(publication.reserved) }
    }

    package func discard(_ staged: [ImageHandle.Staged]) {
        for file in staged { UnneededFile.remove(file.path) }
    }

    /// Returns false if the name is taken.
    private static func rename(_ step: PublishIntent.Step) throws -> Bool {
        do {
            try OutboxFolders.rename(step.staging, step.target, replacing: step.conflict == .replace)
            return true
        } catch  where error.isTaken {
            return false
        }
    }

    private static func numbered(_ target: String) throws -> String {
        var number = 1
        while try FileSystem.exists(ResultName.numbered(target, number)) { number += 1 }
        return ResultName.numbered(target, number)
    }
}

extension PublishIntent {
    /// Records that the earlier result at this step's target stays there, because somebody has changed that file since
    /// the results' names were chosen.
    fileprivate mutating func leave(_ index: Int) throws {
        if try FileSystem.exists(steps[index].target) { left = (left ?? []) + [steps[index].target] }
    }

    /// Whether earlier results are in staging when all renames are done, and must be removed from there.
    package var leavesFiles: Bool { steps.contains { $0.replaces != nil } }
}

extension ImageHandle.Staged {
    var inStory: JobStory.Picture? {
        result.map {
            JobStory.Picture(
                format: $0.format, width: $0.width, height: $0.height, pages: $0.pages, bytes: Int($0.bytes))
        }
    }
}
