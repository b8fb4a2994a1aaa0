package import DaemonInterface
import DaemonRuntime
package import JobLedger
import JobModel
package import PictureFiles
package import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools

/// Removes the oldest kept files of a place until a rule or a user's request is met. Removes a file only if it is still
/// the file that the daemon put there. The methods block on disks and on the ledger.
package struct Tidying: Sendable {
    private enum Finding {
        case same
        /// Another file is at the path, or the file's contents have changed.
        case changed
        case gone
        /// The file is missing, but its disk may be unmounted.
        case unknown
    }

    package let ledger: Ledger
    package let places: Places
    /// Maximum time that a disk may take to answer. Files on a slower disk stay, and do not delay other files.
    package var patience = Duration.seconds(30)
    /// Called with the path of each removed file.
    package let each: @Sendable (String) -> Void

    /// A run ends early when this number of files could not be removed. Files on disks that do not answer don't count.
    private static let mostRefused = 20
    private static let portion = 200

    package func run(_ wish: CleanWish) throws -> CleanOutcome {
        if !wish.isTrial { try goOn() }
        defer { if !wish.isTrial { reserve.renew() } }
        var outcome = CleanOutcome()
        var excess = try excess(wish)
        var position = Ledger.KeptPosition.start
        while outcome.refused - outcome.silent < Self.mostRefused {
            let files = try ledger.kept(in: wish.place, of: wish.recipe, after: position, limit: Self.portion)
            var same: [KeptFile] = []
            var others: [KeptFile] = []
            var isOver = files.count < Self.portion
            for file in files {
                guard isWanted(file, wish, excess) else {
                    isOver = true
                    break
                }
                position = Ledger.KeptPosition(of: file)
                // Counts the file as removed, even if it can't be removed, so that no newer file is removed in its
                // place.
                excess? -= file.file.size
                do {
                    switch try onDisk(of: file, { try look(at: file) }) {
                    case .same: same.append(file)
                    case .changed, .gone: others.append(file)
                    case .unknown: break
                    }
                } catch {
                    outcome.refuse(error)
                }
            }
            if wish.isTrial {
                for file in same { outcome.add(file) }
            } else {
                ledger.forget(kept: others)
                remove(same, JobRecord.Removal(by: wish.by, time: Timestamp.now()), &outcome)
            }
            if isOver { break }
        }
        return outcome
    }

    /// Finishes removals that a crash or a full disk has interrupted.
    func goOn() throws {
        reserve.renew()
        var outcome = CleanOutcome()
        for (removal, files) in Dictionary(grouping: try ledger.leavingFiles(), by: \.leaving) where removal != nil {
            finish(files, &outcome)
        }
    }

    private var reserve: LedgerReserve { LedgerReserve(path: places.reserve, ledger: ledger) }

    /// Returns the number of bytes by which the kept files exceed the wish's limit; nil if the wish has no limit.
    private func excess(_ wish: CleanWish) throws -> Int? {
        guard let most = wish.most else { return nil }
        return try ledger.keptSum(in: wish.place, of: wish.recipe).bytes - most
    }

    private func isWanted(_ file: KeptFile, _ wish: CleanWish, _ excess: Int?) -> Bool {
        if wish.before == nil, wish.most == nil { return true }
        return excess.map { $0 > 0 } == true || wish.before.map { file.time < $0 } == true
    }

    private func look(at file: KeptFile) throws -> Finding {
        guard FileSystem.lies(file.path, within: places.folder(of: file.place)) else { return .changed }
        guard file.file != .none else { return .same }
        guard let there = try FileSystem.status(file.path) else { return try isMounted(file) ? .gone : .unknown }
        return there.kind == .file && isSame(file, there.identity) ? .same : .changed
    }

    private func isSame(_ file: KeptFile, _ there: FileStatus.Identity) -> Bool {
        // Other users may write to outboxes, so the whole identity must match.
        if file.place == .results { return file.file.isStill(there, at: file.path) }
        // Restoring a backup changes inode numbers, so only size and time must match.
        return (there.size, there.modified) == (file.file.size, file.file.modified)
    }

    /// Whether the disk of a missing file is mounted.
    private func isMounted(_ file: KeptFile) throws -> Bool {
        // Users remove results at any time, and the ledger does not record the disk of a result. So a missing result
        // counts as removed.
        try file.place == .results || file.file.isDiskThere(at: file.path)
    }

    private func remove(_ files: [KeptFile], _ removal: JobRecord.Removal, _ outcome: inout CleanOutcome) {
        guard !files.isEmpty else { return }
        func begin() -> Set<Int>? { ledger.begin(removing: files, removal) }
        guard let begun = begin() ?? (reserve.give() ? begin() : nil) else {
            return outcome.refuse(
                ledger.unwritableReason.map { JobFailure($0) } ?? .unrecordedRemoval, files: files.count)
        }
        finish(files.filter { begun.contains($0.id) }, &outcome)
    }

    /// Removes files whose removal is recorded, unless they have changed meanwhile.
    private func finish(_ files: [KeptFile], _ outcome: inout CleanOutcome) {
        var gone: [KeptFile] = []
        var changed: [KeptFile] = []
        var left: [KeptFile] = []
        for file in files {
            do {
                let finding = try onDisk(of: file) {
                    let finding = try look(at: file)
                    if finding == .same { try remove(file) }
                    return finding
                }
                switch finding {
                case .same:
                    outcome.add(file)
                    each(file.path)
                    gone.append(file)
                case .gone: gone.append(file)
                case .changed: changed.append(file)
                case .unknown: left.append(file)
                }
            } catch {
                outcome.refuse(error)
                left.append(file)
            }
        }
        // An outbox outside the daemon's folder belongs to a user, and so do the folders in it. These folders are never
        // removed.
        let tops = Set(
            gone.map { file in
                file.place == .results ? FileSystem.join(places.outbox, file.recipe) : places.folder(of: file.place)
            })
        for folder in Set(gone.map { FileSystem.folder(of: $0.path) }) {
            try? FileLanes.work(on: folder).wait(patience) {
                // A failed sync does no harm: if a power cut restores the file, no job refers to it any more.
                try? FileSystem.sync(folder)
                for top in tops { FileSystem.removeEmptyFolders(from: folder, upTo: top) }
            }
        }
        ledger.abandon(removing: changed + left)
        ledger.forget(kept: gone + changed)
    }

    private func onDisk<Value: Sendable>(
        of file: KeptFile, _ work: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        try FileLanes.work(on: file.path).wait(patience, for: work)
    }

    /// Removes the file. If the file is a failed original, removes the error text beside it first. If the text stayed,
    /// a user could mistake it for the text of a later original with the same name.
    private func remove(_ file: KeptFile) throws {
        if file.place == .failed { try FileSystem.remove(Explanation.path(of: file.path)) }
        if file.file != .none { try FileSystem.remove(file.path) }
    }
}

extension Places {
    /// Returns the folder that contains all files of a place.
    package func folder(of place: KeptPlace) -> String {
        switch place {
        case .archive: archive
        case .failed: failed
        case .cancelled: cancelled
        // Outboxes can be anywhere in the file system.
        case .results: "/"
        }
    }
}

extension CleanOutcome {
    fileprivate mutating func add(_ file: KeptFile) {
        files += 1
        bytes += file.file.size
        oldest = min(oldest ?? file.time, file.time)
        newest = max(newest ?? file.time, file.time)
    }

    fileprivate mutating func refuse(_ error: any Error, files: Int = 1) {
        refused += files
        if error is FileLane.Silence { silent += files }
        refusal = refusal ?? "\(error)"
    }
}
