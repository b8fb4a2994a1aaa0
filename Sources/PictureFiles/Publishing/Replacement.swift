import Glibc
import JobModel
import SystemCalls

extension PublishIntent.Step {
    /// The path of the earlier result during an exchange that takes several renames. The path is in the staging folder,
    /// to which only the daemon writes.
    var aside: String { "\(staging)\(PublishIntent.aside)" }
}

/// Exchanges an earlier result in the outbox with its successor in staging. The earlier result stays in the staging
/// folder, so that it can be brought back until the job's end is recorded. Other programs' files are never lost: after
/// each rename, the code checks whether it moved the published file, and puts any other file back.
struct Replacement {
    private let step: PublishIntent.Step

    /// Nil for a step that neither replaces nor withdraws a result.
    init?(_ step: PublishIntent.Step) {
        guard step.replaces != nil else { return nil }
        self.step = step
    }

    /// Performs the exchange or the withdrawal, or completes it after a crash. Returns false if somebody has changed
    /// the file at the target, which then stays.
    func perform() throws -> Bool { try step.isWithdrawal ? withdraw() : exchange() }

    /// Whether the earlier result is still at the target, and its successor is gone.
    var isLost: Bool {
        get throws {
            try !step.isWithdrawal && !FileSystem.exists(step.staging) && !FileSystem.exists(step.aside)
                && isOld(at: step.target)
        }
    }

    /// Moves the earlier result back to the target. A successor that somebody has changed stays.
    func takeBack() throws {
        if step.isWithdrawal {
            if try FileSystem.exists(step.staging) { try OutboxFolders.rename(step.staging, step.target) }
            return
        }
        if try FileSystem.exists(step.aside) { return try finishTakingBack() }
        guard try FileSystem.exists(step.staging) else {
            // The earlier result is gone, and the new result is at the target.
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

    // MARK: - Exchange and withdrawal

    private func exchange() throws -> Bool {
        if try FileSystem.exists(step.aside) { return try finishInSteps() }
        guard try FileSystem.exists(step.staging) else {
            // The earlier result is gone, and the new result is at the target.
            if try isNew(at: step.target) { return true }
            throw SystemError("rename", step.staging, code: ENOENT)
        }
        if try isNew(at: step.staging) {
            guard try isOld(at: step.target) else { return false }
            guard try FileSystem.exchange(step.staging, step.target) else { return try exchangeInSteps() }
        }
        if try isOld(at: step.staging) { return true }
        // Somebody put another file at the target just before the exchange, maybe before a crash. A second exchange
        // puts that file back.
        if try isNew(at: step.target) { _ = try FileSystem.exchange(step.staging, step.target) }
        return false
    }

    /// Exchanges the files on a file system that has no atomic exchange.
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

    /// Moves the earlier result from the target to `place`. If somebody has just put another file at the target, moves
    /// that file back and returns false.
    private func moveOut(to place: String) throws -> Bool {
        try FileSystem.makeFolders(FileSystem.folder(of: place))
        try FileSystem.renameWithoutReplacing(step.target, place, inOwn: true)
        if try isOld(at: place) { return true }
        try OutboxFolders.rename(place, step.target)
        return false
    }

    // MARK: - Identification

    private func isOld(at path: String) throws -> Bool { try isThere(step.replaces, at: path) }

    /// Whether the file at `path` is the new result. If the earlier result has the same size and time, the inode
    /// decides.
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
