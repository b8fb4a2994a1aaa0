import Dispatch
import Glibc
import PipelineModel
import ServiceProgram
import SystemCalls

/// Claims files that have settled.
extension Inbox {
    func take(_ path: String, _ status: FileStatus, cancelled: Bool) {
        let key = FileSystem.Key(path)
        let length = FileSystem.relative(path, to: folder).utf8.count + longestPlace
        guard length < PATH_MAX else {
            let reason = Permission.tooLong(length)
            logOnce("\(path): \(reason)", of: path)
            return leave(path, reason)
        }
        if report.held != nil {
            return settling.waitForRelease(key, status, cancelled: cancelled)
        }
        do {
            let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            // While an upload pauses, the file does not change, but its writer still has the file open.
            if FileSystem.isOpenForWriting(file) ?? settling.isWritten(path, at: .now()) {
                if Settling.isUnchanged(status, for: recipe.intake.pollInterval, at: Timestamp.now()) {
                    note(path, Permission.stillOpen)
                }
                return settle(path, status, cancelled: cancelled)
            }
            settling.forget(key)
        } catch {
            if error.isMissing { return }
            if error.isPassing { return again(path, error, status, cancelled: cancelled) }
            return refuse(path, Permission.unreadable(path, "file", error), cancelled: cancelled)
        }
        forgetIgnored(path)
        let relative = FileSystem.relative(path, to: folder)
        guard recipe.original != .keep else { return keep(path, status, cancelled: cancelled) }
        var target: String?
        do {
            let source = try claimFolder().claim(relative, isInWork: sink.knows) { target = $0 }
            claimed(source, UnsureClaim(path: relative, before: status, cancelled: cancelled))
        } catch let error as SystemError where error.isMissing || error.isPassing {
            // The open claim folder may be outdated, so the next claim opens it again.
            claiming = nil
            if error.isPassing { again(path, error, status, cancelled: cancelled) }
            // The rename may have succeeded despite the error.
            if let target { claimed(target, UnsureClaim(path: relative, before: status, cancelled: cancelled)) }
            // The file exists, so the missing folder must be `.pipelined`. Reopening the inbox creates that folder.
            if error.isMissing, FileSystem.mayExist(path) { return broken("\(error)", isPassing: true) }
        } catch let error as UnsafeFolder {
            return broken("\(error)")
        } catch {
            let above = FileSystem.folder(of: path)
            guard above != folder, Permission.isClosed(above) else {
                return refuse(path, Permission.unclaimable(in: above, error), cancelled: cancelled)
            }
            // The daemon can't move files out of this folder; `cp -r` under umask 022 creates such folders. A readable
            // file is processed in place.
            logOnce("inbox \(folder): \(Permission.closed(above))", of: above)
            keep(path, status, cancelled: cancelled)
        }
    }

    func claimFolder() throws -> ClaimFolder {
        let folder = try claiming ?? claims.open(folder)
        claiming = folder
        return folder
    }

    /// Turns a claimed file into a job; does nothing if the rename has not succeeded.
    private func claimed(_ source: String, _ claim: UnsureClaim) {
        let back = FileSystem.Key(FileSystem.join(folder, claim.path))
        unsure[source] = nil
        do {
            guard let now = try claimFolder().status(source) else { return }
            settling.drop(back)
            forgetIgnored(back.path)
            // A file that was written to during the claim may be incomplete. The inode is not compared, because some
            // file systems change it with a rename.
            let isChanged = (now.size, now.modified) != (claim.before.size, claim.before.modified)
            if isChanged, try giveBack(source, as: claim.path) {
                return settle(back.path, now, cancelled: claim.cancelled)
            }
            add(
                Claim(
                    path: claim.path, source: source, isKept: false, file: now.identity, cancelled: claim.cancelled,
                    owner: now.owner))
        } catch {
            claiming = nil
            logOnce("\(source): \(error); it is tried again", of: source, input: claim.path)
            unsure[source] = claim
            lookAgain()
        }
    }

    func lookAgain() {
        guard !looksAgain else { return }
        looksAgain = true
        afterInterval {
            $0.looksAgain = false
            for (source, claim) in $0.unsure { $0.claimed(source, claim) }
            $0.finishLook()
        }
    }

    /// Takes a file without moving it. The inbox takes the file again only if the file changes.
    private func keep(_ path: String, _ status: FileStatus, cancelled: Bool) {
        kept.insert(path, status.identity)
        let name = FileSystem.relative(path, to: folder)
        add(
            Claim(
                path: name, source: path, isKept: true, file: status.identity, cancelled: cancelled, owner: status.owner
            ))
    }

    /// Logs a message once, even if its cause recurs.
    func logOnce(_ line: String, of path: String, input: String? = nil) {
        guard logged.updateValue(line, forKey: FileSystem.Key(path)) != line else { return }
        Log.failure(line, of: LogSubject(recipe: recipe.name, input: input))
    }

    /// Skips a file that can't be taken, and tries again after PollInterval, because a change of permissions may raise
    /// no event.
    private func refuse(_ path: String, _ reason: String, cancelled: Bool) {
        logOnce("\(path): \(reason)", of: path, input: FileSystem.relative(path, to: folder))
        leave(path, reason)
        afterInterval { $0.takeRefused(path, reason, cancelled: cancelled) }
    }

    private func takeRefused(_ path: String, _ reason: String, cancelled: Bool) {
        guard self.reason(for: path) == reason, !settling.contains(FileSystem.Key(path)) else { return }
        do throws(SystemError) {
            guard let status = try FileSystem.status(path), status.kind == .file else { return }
            take(path, status, cancelled: cancelled)
        } catch {
            unseen(path, error)
        }
        finishLook()
    }

    /// Moves a file that changed during the claim back into the inbox, where it settles again. Returns false if the
    /// inbox has another file of that name by now. In that case, the claimed file becomes a job as it is.
    private func giveBack(_ source: String, as path: String) throws -> Bool {
        let back = FileSystem.Key(FileSystem.join(folder, path))
        givenBack.insert(back)
        do {
            try claimFolder().giveBack(source, as: path)
            return true
        } catch {
            givenBack.remove(back)
            if (error as? SystemError)?.isPassing == true { throw error }
            return false
        }
    }

    func add(_ claim: Claim) {
        bursts.took(FileSystem.join(folder, claim.path), at: .now())
        ready.append(claim)
        if ready.count >= Self.batch { handOver() }
    }

    func handOver() {
        makeDurable(ready)
        claiming = nil
        guard !ready.isEmpty else { return }
        // The report counts files as settling until the sink counts them as jobs, so that clients see each file exactly
        // once.
        let durable = DispatchSemaphore(value: 0)
        let left = settling.count + unsure.count
        sink.accept(ready, from: self) { [self] in
            report(settling: left)
        } done: {
            durable.signal()
        }
        ready = []
        durable.wait()
        step()
    }

    /// Syncs the claims to disk. This happens before their jobs are recorded, and therefore before any result is
    /// published.
    private func makeDurable(_ claims: [Claim]) {
        let sources = claims.filter { !$0.isKept }.map(\.source)
        guard !sources.isEmpty else { return }
        do { try claimFolder().sync(sources) } catch {
            logOnce(
                "inbox \(folder): \(error), ignoring; after a power cut its files may be taken once more", of: folder)
        }
    }

    /// Creates jobs for files that were claimed before a crash but have no job yet. While the recipe is held, such
    /// files stay claimed, and the inbox's successor adopts them.
    func adopt(_ claims: ClaimFolder) throws {
        defer { handOver() }
        var unknown = 0
        for (source, path) in try claims.left(except: sink.forEachKnown) {
            try claims.finish(source, as: path)
            guard let status = try claims.status(source) else { continue }
            if try sink.isOriginal(source, as: path, status.identity) || refusal != nil { continue }
            add(
                Claim(
                    path: path, source: source, isKept: false, file: status.identity, cancelled: false,
                    owner: status.owner))
            unknown += 1
        }
        if unknown > 0 {
            Log.notice("inbox \(folder): took in \(unknown.counted("claimed file")) without a job", of: subject)
        }
        handOver()
        for (root, count) in try claims.others() {
            logOnce(
                "inbox \(folder): another pipelined has claimed \(count.counted("file")) in \(ClaimFolder.name)/\(root), "
                    + "left to it; if no daemon works there any longer, move its files back into the inbox",
                of: FileSystem.join(folder, "\(ClaimFolder.name)/\(root)"))
        }
    }
}
