import Glibc
import JobLedger
import SystemCalls

extension PublishIntent.Step {
    /// Whether the earlier result has no successor, and is withdrawn from `target` to `staging`.
    var isWithdrawal: Bool { replaces != nil && file == nil }

    /// Holds the earlier result while an exchange takes several renames. Nobody else writes to that folder.
    var aside: String { "\(staging)\(PublishIntent.aside)" }
}

/// Exchanges an earlier result and its successor. The earlier one goes to the staging folder, from where it can be
/// brought back until the job's end is recorded. Somebody else's file is never lost: each rename checks afterwards
/// whether it moved the published file, and puts any other file back.
struct Replacement {
    private let step: PublishIntent.Step

    /// Nil for an ordinary step.
    init?(_ step: PublishIntent.Step) {
        guard step.replaces != nil else { return nil }
        self.step = step
    }

    /// Makes the exchange, or finishes it. False if somebody has changed the target, which then stays.
    func perform() throws -> Bool { try step.isWithdrawal ? withdraw() : exchange() }

    /// Whether the earlier result is in place, and its successor is gone.
    var isLost: Bool {
        get throws {
            try !step.isWithdrawal && !FileSystem.exists(step.staging) && !FileSystem.exists(step.aside)
                && isOld(at: step.target)
        }
    }

    /// Brings the earlier result back. A successor that somebody has changed stays.
    func takeBack() throws {
        if step.isWithdrawal {
            if try FileSystem.exists(step.staging) { try OutboxFolders.rename(step.staging, step.target) }
            return
        }
        if try FileSystem.exists(step.aside) { return try finishTakingBack() }
        guard try FileSystem.exists(step.staging) else {
            // The earlier result is gone, and the new one has the name.
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
            // The earlier result is gone, and the new one has the name.
            if try isNew(at: step.target) { return true }
            throw SystemError("rename", step.staging, code: ENOENT)
        }
        if try isNew(at: step.staging) {
            guard try isOld(at: step.target) else { return false }
            guard try FileSystem.exchange(step.staging, step.target) else { return try exchangeInSteps() }
        }
        if try isOld(at: step.staging) { return true }
        // Somebody put another file there at the last moment, maybe before a crash: put it back.
        if try isNew(at: step.target) { _ = try FileSystem.exchange(step.staging, step.target) }
        return false
    }

    /// Exchanges on a file system that has no atomic exchange.
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

    /// False if somebody put another file there at the last moment; that file is put back.
    private func moveOut(to place: String) throws -> Bool {
        try FileSystem.makeFolders(FileSystem.folder(of: place))
        try FileSystem.renameWithoutReplacing(step.target, place, inOwn: true)
        if try isOld(at: place) { return true }
        try OutboxFolders.rename(place, step.target)
        return false
    }

    // MARK: - Which is which

    private func isOld(at path: String) throws -> Bool { try isThere(step.replaces, at: path) }

    /// If both files have the same size and time, their inodes tell them apart.
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
