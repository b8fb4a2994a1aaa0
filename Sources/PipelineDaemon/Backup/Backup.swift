import DaemonConfiguration
import DaemonRuntime
import Foundation
import Glibc
import JobFlow
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls

/// Implements `pipelined --backup DIR`, which `pipectl backup DIR` runs. It copies all data of the daemon, whether the
/// daemon runs or not, and checks the copy.
struct Backup {
    /// Maximum number of rounds through the folders. If jobs end between the copy of the folders and the copy of the
    /// ledger, their originals move, and another round is needed.
    private static let mostRounds = 5

    private let places: Places
    private let mirror: Mirror
    private let output: BackupOutput
    private var folder: BackupFolder
    /// Inboxes and outboxes outside the daemon's folder. The backup does not contain them.
    private let elsewhere: [String]
    private var jobs = 0

    static func run(_ places: Places, into folder: String, json: Bool) -> Int32 {
        let output = BackupOutput(json: json)
        do {
            var backup = try Backup(places, into: folder, output)
            do {
                try backup.make()
                return ExitStatus.done.rawValue
            } catch let error as SystemError where error.isFull {
                throw BackupError("NoRoom", "\(error); make room there, and run it again, which continues")
            } catch  where !(error is BackupError) {
                throw BackupError("Incomplete", "\(error); the backup is incomplete, and the next run continues")
            }
        } catch let error as BackupError {
            output.refuse(error)
        } catch {
            output.refuse(BackupError("Refused", "\(error)"))
        }
        return ExitStatus.failed.rawValue
    }

    private init(_ places: Places, into path: String, _ output: BackupOutput) throws {
        try Self.checkReadable(places)
        (self.places, self.output) = (places, output)
        let watched = Self.folders(places)
        elsewhere = watched.filter { !FileSystem.lies($0, within: places.data) }
        folder = try BackupFolder(path, of: places, watched: watched)
        output.total = try Self.checkRoom(places, folder)
        mirror = Mirror(leaving: places.leftOutOfBackups, order: places.way, tell: output.showProgress)
    }

    private mutating func make() throws {
        try folder.begin()
        var late: [LedgerView.Original] = []
        for _ in 0..<Self.mostRounds {
            mirror.begin()
            for root in places.backedUp { try mirror.copyFolder(root, to: folder.place(of: root)) }
            try mirror.removeGone()
            late = try copyLedger()
            if late.isEmpty { break }
        }
        let missing = mirror.problems + late.map { "the original of job \($0.job), \($0.path), was not found any more" }
        guard missing.isEmpty else { throw BackupError("Incomplete", Self.text(missing)) }
        try folder.finish()
        try output.report(
            BackupReport(
                folder: folder.path, of: places.data, all: mirror.all, copied: mirror.copied, removed: mirror.removed,
                jobs: jobs, elsewhere: elsewhere))
    }

    /// Copies the ledger, checks the copy, and adds the files that its rows refer to. Returns originals that could not
    /// be found.
    private mutating func copyLedger() throws -> [LedgerView.Original] {
        guard try FileSystem.exists(places.ledger) else { return [] }
        let live = try LedgerView(path: places.ledger)
        let place = folder.place(of: places.ledger)
        try live.copy(to: place)
        let copy = try LedgerView(path: place)
        try copy.checkVersion()
        jobs = try copy.jobs()
        var needs = try BackupNeeds(places, folder, live: live, mirror: mirror)
        try needs.complete(copy)
        return needs.late
    }

    private static func text(_ missing: [String]) -> String {
        let more = missing.count > 20 ? ["and \(missing.count - 20) more"] : []
        return (["the backup is incomplete; fix this, and run it again, which continues:"] + missing.prefix(20) + more)
            .joined(separator: "\n")
    }

    // MARK: - Preconditions

    private static func checkReadable(_ places: Places) throws {
        guard FileSystem.isFolder(places.data) else {
            throw BackupError("Refused", "there is no folder \(places.data): no pipelined has run there yet")
        }
        for folder in places.backedUp + [places.state] where FileSystem.isFolder(folder) {
            guard faccessat(AT_FDCWD, folder, R_OK | X_OK, AT_EACCESS) == 0 else {
                throw BackupError(
                    "Refused", "the user \(User.current) may not read \(folder); run it as root, as with sudo")
            }
        }
        if let loss = LedgerFile.loss(places) { throw BackupError("Refused", loss) }
    }

    /// The inboxes and outboxes of all recipes, including recipes that are held because of a mistake.
    private static func folders(_ places: Places) -> [String] {
        let files = ConfigurationFiles(places)
        let loaded = Configuration.load(settings: files.allSettings, recipes: files.recipes, catalog: .builtIn)
            .configuration
        let recipes = loaded.recipes + loaded.held.map(\.recipe)
        let folders = recipes.flatMap {
            [FileSystem.join(places.inbox, $0.inbox), FileSystem.join(places.outbox, $0.outbox)]
        }
        return Set(folders).sorted()
    }

    /// Throws if the backup's disk has too little room. Returns the amount that will be copied.
    private static func checkRoom(_ places: Places, _ folder: BackupFolder) throws -> Mirror.Amount {
        let trial = Mirror(leaving: places.leftOutOfBackups, order: places.way, isTrial: true)
        for root in places.backedUp { try trial.copyFolder(root, to: folder.place(of: root)) }
        let ledger = try ["", "-wal"].reduce(0) { try $0 + (FileSystem.status(places.ledger + $1)?.size ?? 0) }
        let (wanted, free) = (trial.copied.bytes + ledger, try DiskRoom(in: folder.path).free)
        guard wanted <= free else {
            throw BackupError(
                "NoRoom",
                "\(folder.path) has \(BackupOutput.bytes(free)) free, and \(BackupOutput.bytes(wanted)) must be copied; "
                    + "nothing was copied")
        }
        return trial.copied
    }
}
