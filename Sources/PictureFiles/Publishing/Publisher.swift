import Dispatch
import Glibc
package import JobLedger
import PipelineModel
import Synchronization
import SystemCalls
import WorkerPools

/// Brings results into an outbox: makes the files durable, records the intent, then renames. It blocks, so callers use
/// threads that may wait for a disk.
package final class Publisher: Sendable {
    /// The renames of a job. No other job in flight has chosen the same names.
    package struct Publication: Sendable {
        package var intent: PublishIntent
        package var results: [ImageHandle.Staged]
        /// The names that it has reserved in its outbox.
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
        /// Earlier results that stay because somebody has changed them.
        package var left: [String] = []
        /// Folders that the renames have changed.
        package fileprivate(set) var folders: Set<String> = []

        package init(published: [Published] = [], left: [String] = [], folders: Set<String> = []) {
            (self.published, self.left, self.folders) = (published, left, folders)
        }

        fileprivate mutating func add(_ step: PublishIntent.Step, _ picture: JobStory.Picture?) {
            folders.insert(FileSystem.folder(of: step.target))
            guard !step.isWithdrawal else {
                // A rename is sure to be durable only when its target folder is.
                folders.insert(FileSystem.folder(of: step.staging))
                return
            }
            published.append(Published(step: step, picture: picture))
        }
    }

    /// Records an intent, then reports whether it is durable.
    package typealias Record = (PublishIntent, @escaping @Sendable (Bool) -> Void) -> Void

    private let lines = Mutex<[String: OutboxLine]>([:])
    /// Says in a burst whether results in flight are worth waiting for.
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

    /// Step 3: the renames. If somebody else has taken a name meanwhile, another one is chosen, and recorded with
    /// `rerecord` before its use. A rename that fails takes back those before it.
    package func publish(_ publication: Publication, rerecord: Record) throws -> Outcome {
        defer { release(publication) }
        var intent = publication.intent
        var outcome = Outcome()
        do {
            // The steps after the results withdraw earlier results that have no successor.
            for index in intent.steps.indices {
                let isPublished = try Self.rename(index, of: &intent, rerecord)
                // A result left out by `skip` stays in staging until the job's end is recorded, so recovery can tell
                // that it was not published.
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

    /// Finishes an interrupted publication. A missing staging file was published; an existing one is renamed now. Nil
    /// if neither staging files nor results are left.
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

    /// Whether neither staging files nor results are left, or an earlier result is in place and its successor is gone.
    /// In the second case, the rest is moved back.
    private func isLost(_ intent: PublishIntent) throws -> Bool {
        if try intent.steps.contains(where: { try Replacement($0)?.isLost ?? false }) {
            try moveBack(intent)
            return true
        }
        return try intent.steps.allSatisfy { try !FileSystem.exists($0.staging) && !FileSystem.exists($0.target) }
    }

    /// Takes a publication back, because a job publishes all of its outputs or none. Moves published results back to
    /// staging, and the job's earlier results to their places. If a result replaced somebody else's file, that file is
    /// gone, so the result stays. A result that somebody has changed stays as well. Removes the emptied folders, and
    /// makes everything durable. It may be repeated until the intent is forgotten.
    package func takeBack(_ intent: PublishIntent) throws {
        try moveBack(intent)
        let gone = try intent.steps.filter { try FileSystem.exists($0.staging) && !FileSystem.exists($0.target) }
        OutboxFolders.removeEmpty(around: gone)
        try OutboxFolders.sync(
            intent.steps.filter { try FileSystem.exists($0.staging) || FileSystem.exists($0.target) })
    }

    /// Does the same but keeps the folders, which the next attempt needs.
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

    /// Finishes a rename of several steps that a crash interrupted; true if the result has its name.
    private static func finish(_ step: PublishIntent.Step) throws -> Bool {
        guard step.conflict != .replace, try FileSystem.exists(step.target) else { return false }
        if try FileSystem.isPlaceholder(step.target) {
            try FileSystem.remove(step.target)
            return false
        }
        // The result may be linked to its name, and still be in staging. The contents are compared, because inode
        // numbers are unreliable on some file systems.
        let staged = try Descriptor.open(step.staging, O_RDONLY | O_NOFOLLOW)
        guard try FileSystem.isCopy(step.target, of: staged) else { return false }
        try FileSystem.remove(step.staging)
        return true
    }

    /// False if the name is taken, and the policy allows no other.
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

    /// Chooses a free name, and records it before its use.
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

    /// Removes the files that a recorded publication has replaced, withdrawn or left out.
    package func discard(_ intent: PublishIntent) {
        for step in intent.steps {
            Litter.remove(step.staging)
            if step.replaces != nil { Litter.remove(step.aside) }
        }
        OutboxFolders.removeEmpty(around: intent.steps.filter(\.isWithdrawal))
    }

    /// Makes the reserved names available again.
    package func release(_ publication: Publication) {
        line(of: publication.outbox).reserved.withLock { $0.subtract(publication.reserved) }
    }

    package func discard(_ staged: [ImageHandle.Staged]) {
        for file in staged { Litter.remove(file.path) }
    }

    /// False if the name is taken.
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
    /// Notes that an earlier result stays at this step's target: somebody has changed it since its name was chosen.
    fileprivate mutating func leave(_ index: Int) throws {
        if try FileSystem.exists(steps[index].target) { left = (left ?? []) + [steps[index].target] }
    }

    /// Whether files stay in staging after all renames.
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
