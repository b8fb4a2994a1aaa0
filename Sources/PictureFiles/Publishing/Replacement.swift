import Glibc
import JobLedger
import SystemCalls

extension PublishIntent.Step {
    /// The result of before has no successor: it is withdrawn from `target` to `staging`.
    var isWithdrawal: Bool { replaces != nil && file == nil }

    /// The place of the result of before while an exchange takes several renames. Nobody else writes in that folder.
    var aside: String { "\(staging)\(PublishIntent.aside)" }
}

/// A result of before and its successor change places: the one goes to the staging folder, where it can be taken back
/// from until the end of the job is recorded. Somebody else's file is never touched for good: what a rename has brought
/// out is looked at afterwards, and put back when it is not the file that was published.
struct Replacement {
    private let step: PublishIntent.Step

    /// Nil for an ordinary step.
    init?(_ step: PublishIntent.Step) {
        guard step.replaces != nil else { return nil }
        self.step = step
    }

    /// Makes the change, or finishes it. False when the target is not the result of before any more: it stays.
    func perform() throws -> Bool { try step.isWithdrawal ? withdraw() : exchange() }

    /// The result of before is where it was, and its successor is gone.
    var isLost: Bool {
        get throws {
            try !step.isWithdrawal && !FileSystem.exists(step.staging) && !FileSystem.exists(step.aside)
                && isOld(at: step.target)
        }
    }

    /// Brings the result of before back. A successor that somebody has changed stays.
    func takeBack() throws {
        if step.isWithdrawal {
            if try FileSystem.exists(step.staging) { try OutboxFolders.rename(step.staging, step.target) }
            return
        }
        if try FileSystem.exists(step.aside) { return try finishTakingBack() }
        guard try FileSystem.exists(step.staging) else {
            // It had the name for itself.
            if try isNew(at: step.target) {
                try FileSystem.renameWithoutReplacing(step.target, step.staging, inOwn: true)
            }
            return
        }
        if try isNew(at: step.staging) { return }
        guard try FileSystem.exists(step.target) else {
            return try OutboxFolders.rename(step.staging, step.target)
        }
        if try !isNew(at: step.target) || FileSystem.exchange(step.staging, step.target) { return }
        try FileSystem.renameWithoutReplacing(step.staging, step.aside, inOwn: true)
        try finishTakingBack()
    }

    private func finishTakingBack() throws {
        if try !FileSystem.exists(step.staging), try isNew(at: step.target) {
            try FileSystem.renameWithoutReplacing(step.target, step.staging, inOwn: true)
        }
        try OutboxFolders.rename(step.aside, step.target)
    }

    // MARK: - Both ways

    private func exchange() throws -> Bool {
        if try FileSystem.exists(step.aside) { return try finishInSteps() }
        guard try FileSystem.exists(step.staging) else {
            // It had the name for itself.
            if try isNew(at: step.target) { return true }
            throw SystemError("rename", step.staging, code: ENOENT)
        }
        if try isNew(at: step.staging) {
            guard try isOld(at: step.target) else { return false }
            guard try FileSystem.exchange(step.staging, step.target) else { return try exchangeInSteps() }
        }
        if try isOld(at: step.staging) { return true }
        // Somebody has put another file there in the last moment, maybe before a crash: it is put back.
        if try isNew(at: step.target) { _ = try FileSystem.exchange(step.staging, step.target) }
        return false
    }

    /// On a file system that can't exchange two files.
    private func exchangeInSteps() throws -> Bool {
        guard try moveOut(to: step.aside) else { return false }
        return try finishInSteps()
    }

    private func finishInSteps() throws -> Bool {
        if try FileSystem.exists(step.staging) {
            do {
                try OutboxFolders.rename(step.staging, step.target)
            } catch  where error.isTaken {
                guard try FileSystem.isPlaceholder(step.target) else { return false }
                try FileSystem.remove(step.target)
                return try finishInSteps()
            }
        }
        try FileSystem.renameWithoutReplacing(step.aside, step.staging, inOwn: true)
        return true
    }

    private func withdraw() throws -> Bool {
        if try FileSystem.exists(step.staging) { return true }
        guard try FileSystem.exists(step.target) else { return true }
        guard try isOld(at: step.target) else { return false }
        return try moveOut(to: step.staging)
    }

    /// False when somebody has put another file there in the last moment, which is put back.
    private func moveOut(to place: String) throws -> Bool {
        try FileSystem.makeFolders(FileSystem.folder(of: place))
        try FileSystem.renameWithoutReplacing(step.target, place, inOwn: true)
        if try isOld(at: place) { return true }
        try OutboxFolders.rename(place, step.target)
        return false
    }

    // MARK: - Which is which

    private func isOld(at path: String) throws -> Bool { try isThere(step.replaces, at: path) }

    /// Two files of one size and time are told apart by their inodes.
    private func isNew(at path: String) throws -> Bool {
        guard try isThere(step.file, at: path) else { return false }
        guard try isOld(at: path), let there = try FileSystem.status(path) else { return true }
        return there.identity.inode != step.replaces?.inode
    }

    private func isThere(_ file: FileStatus.Identity?, at path: String) throws -> Bool {
        guard let file else { return false }
        return try PublishedFile(path: path, file: file).standing() == .same
    }
}
