import DaemonConfiguration
import InboxWatching
import JobFlow
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools

/// `pipelined --give-back`, called before pipelined is removed: moves claimed pictures out of the hidden folders to
/// places where users can find them.
struct GiveBack {
    private let places: Places
    private let ledger: Ledger
    private let claims: ClaimFolders
    /// The report printed at the end.
    private var lines: [String] = []
    private var returned: [String: Int] = [:]
    private var isComplete = true

    static func run(_ places: Places) throws -> Int32 {
        // If the daemon has never started, it has never claimed a picture.
        guard try FileSystem.exists(places.ledger) || FileSystem.exists(places.place) else {
            return ExitStatus.done.rawValue
        }
        let lock = try Daemon.lock(places)
        return try withExtendedLifetime(lock) {
            let ledger = try LedgerFile.open(places)
            try MovedFolder.follow(places, ledger)
            var work = GiveBack(
                places: places, ledger: ledger,
                claims: ClaimFolders(root: try Staging(places).root))
            return try work.run()
        }
    }

    private init(places: Places, ledger: Ledger, claims: ClaimFolders) {
        (self.places, self.ledger, self.claims) = (places, ledger, claims)
    }

    private mutating func run() throws -> Int32 {
        for inbox in Set(try ledger.inboxes() + [places.inbox]).sorted() where FileSystem.isFolder(inbox) {
            do {
                try giveBack(inbox)
            } catch {
                isComplete = false
                lines.append("files claimed in \(inbox) stay in \(inbox)/\(ClaimFolder.name): \(error)")
            }
        }
        try nameSpooled()
        guard ledger.flush(seconds: 30) else { throw JobFailure("the ledger can't be written") }
        for (place, count) in returned.sorted(by: { $0.key < $1.key }) {
            print("pipelined: \(count) \(count == 1 ? "picture is" : "pictures are") back in \(place)")
        }
        for line in lines { print("pipelined: \(line)") }
        return (isComplete ? ExitStatus.done : .failed).rawValue
    }

    private mutating func giveBack(_ inbox: String) throws {
        guard try FileSystem.status(FileSystem.join(inbox, ClaimFolder.name)) != nil else { return }
        let folder = try claims.open(inbox)
        for (source, path) in try folder.left() {
            do {
                try giveBack(source, as: path, from: folder)
            } catch {
                isComplete = false
                lines.append("\(source) could not be given back: \(error)")
            }
        }
        folder.removeIfEmpty()
    }

    /// Returns the original of an unfinished job to its inbox. Moves the original of an ended job to the folder to
    /// which the daemon would have moved it.
    private mutating func giveBack(_ source: String, as path: String, from folder: ClaimFolder) throws {
        var job = try ledger.job(claimedAt: source)
        // Withdraw results whose publication was interrupted. A job that is not done must not have results in the
        // outbox, except the results from before a redo.
        if let intent = job?.intent {
            try Publisher().takeBack(intent)
            for step in intent.steps { try FileSystem.remove(step.staging) }
            job?.intent = nil
        }
        if var again = job, again.former != nil {
            again.end(.cancelled, at: Timestamp.now())
            ledger.record(again)
            job = again
        }
        do {
            if let job, job.state.isFinal {
                let disposal = Disposal(places: places, claims: .success(folder))
                let place = try disposal.dispose(job) ?? job.source
                if let error = disposal.finish([(job, place)]).values.first { throw error }
                ledger.recordDisposal(of: [(job.id, place)]) {}
            } else {
                try folder.giveBack(source, as: path)
                record(job, at: FileSystem.join(folder.inbox, path))
                returned[folder.inbox, default: 0] += 1
            }
        } catch {
            // The move may have succeeded despite the error.
            guard try folder.status(source) != nil else { throw error }
            let place = try recover(folder.filePlace(source), as: path, of: job?.order.recipe)
            record(job, at: place)
            folder.removeEmptyFolders(above: source)
        }
    }

    private mutating func recover(_ filePlace: FilePlace, as path: String, of recipe: String?) throws -> String {
        let above = FileSystem.join("\(places.recovered)/\(recipe ?? "inbox")", FileSystem.subfolder(of: path))
        let place = try Moving.move(filePlace, into: above, as: FileSystem.name(of: path))
        returned[places.recovered, default: 0] += 1
        return place
    }

    private func record(_ job: JobRecord?, at place: String) {
        guard var job else { return }
        if !job.state.isFinal {
            job.state = .cancelled
            job.finished = Timestamp.now()
            job.reason = "given back, to \(place)"
            job.intent = nil
            ledger.record(job)
        }
        ledger.recordDisposal(of: [(job.id, place)]) {}
    }

    /// Renames downloaded and added files in the spool to the names of their pictures. The files stay in the spool for
    /// the next daemon. If the ledger is purged, only their names identify the files.
    private mutating func nameSpooled() throws {
        for job in try ledger.spooled() where try FileSystem.status(job.source) != nil {
            let named = FileSystem.join(FileSystem.folder(of: job.source), FileSystem.name(of: job.path))
            if job.source != named {
                try FileSystem.renameWithoutReplacing(job.source, named)
                ledger.record(source: named, of: job.id)
            }
            lines.append("\(job.path), which was downloaded or added, waits in \(FileSystem.folder(of: named))")
        }
    }
}
