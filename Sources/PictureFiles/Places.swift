import Glibc
package import SystemCalls

/// Where things lie: in the system's places, or all below one folder with `--root`.
package struct Places: Sendable, Hashable {
    package var root: String?
    package var configuration: String
    package var data: String
    package var run: String
    /// Plugin folders; the first that has a filter's name wins.
    package var plugins: [String]
    /// The name of one of several daemons of the system.
    package var instance: String?

    package static let system = Places(
        root: nil, configuration: "/etc/pipelined", data: "/var/lib/pipelined", run: "/run/pipelined",
        plugins: ["/usr/local/lib/pipelined/plugins", installedPlugins])

    /// The same for one of several daemons of the system. Filters of one's own are for all of them.
    package static func instance(_ name: String) -> Places {
        func own(_ path: String) -> String { "\(path)@\(name)" }
        return Places(
            root: nil, configuration: own(system.configuration), data: own(system.data), run: own(system.run),
            plugins: system.plugins, instance: name)
    }

    /// The words behind `pipectl` and `pipelined` that speak of this daemon, with a space before each.
    package var words: String {
        root.map { " --root \($0)" } ?? instance.map { " --instance \($0)" } ?? ""
    }

    /// Everything below `folder`; filters also from where the program's own are.
    package static func below(_ folder: String) -> Places {
        laidOut(below: FileSystem.resolved(FileSystem.join(FileSystem.workingFolder, folder)))
    }

    /// The same, with paths that begin as `root` does.
    package static func laidOut(below root: String) -> Places {
        Places(
            root: root, configuration: "\(root)/etc", data: root, run: "\(root)/run",
            plugins: ["\(root)/plugins", ownPlugins])
    }

    package var mainConfiguration: String { "\(configuration)/pipelined.conf" }
    package var moreConfiguration: String { "\(configuration)/pipelined.conf.d" }
    package var recipes: String { "\(configuration)/recipes.d" }
    package var inbox: String { "\(data)/inbox" }
    package var outbox: String { "\(data)/outbox" }
    package var archive: String { "\(data)/archive" }
    package var failed: String { "\(data)/failed" }
    package var cancelled: String { "\(data)/cancelled" }
    /// Originals that `--give-back` could not return to their inboxes, and files of the spool that no job knows.
    package var recovered: String { "\(data)/recovered" }
    package var state: String { "\(data)/state" }
    package var pluginCopies: String { "\(state)/plugins" }
    package var spool: String { "\(state)/spool" }
    package var previews: String { "\(state)/previews" }
    package var ledger: String { "\(state)/ledger.sqlite" }
    /// The text that a lost or damaged ledger leaves: see `LedgerFile`.
    package var ledgerNote: String { "\(state)/ledger-lost.txt" }
    /// Room beside the ledger.
    package var reserve: String { "\(state)/reserve" }
    package var saved: String { "\(state)/saved.conf" }
    package var lastGood: String { "\(state)/last-good.json" }
    package var identity: String { "\(state)/id" }
    /// The file has the place where all this lay at the latest start.
    package var place: String { "\(state)/place" }
    /// The file exists from a start to a clean stop: see `Comeback`.
    package var comeback: String { "\(state)/comeback" }
    package var lock: String { "\(state)/lock" }
    package var socket: String { "\(run)/control.sock" }

    /// Folders that the daemon writes to, none of which may lie in an inbox, nor an inbox in one of them.
    package var own: [String] { [archive, failed, cancelled, state, run] }

    package func make() throws(SystemError) {
        for folder in [inbox, outbox, archive, failed, cancelled, run] { try FileSystem.makeFolders(folder) }
        // The ledger holds passwords from URLs, and the spool whole pictures: both belong to the daemon's user alone.
        for folder in [state, spool] {
            try FileSystem.makeFolders(folder, mode: 0o700)
            try FileSystem.keepPrivate(folder, mode: 0o700)
        }
        for file in [ledger, "\(ledger)-wal", "\(ledger)-shm"] { try FileSystem.keepPrivate(file, mode: 0o600) }
        if root != nil { try FileSystem.makeFolders(recipes) }
    }

    /// The filters that come with the program; a build puts them beside it.
    package static var ownPlugins: String { FileSystem.mayExist(installedPlugins) ? installedPlugins : programFolder }

    /// The same, when it is installed.
    private static var installedPlugins: String { "\(FileSystem.folder(of: programFolder))/lib/pipelined/plugins" }

    package static var programFolder: String { InstalledProgram.folder }

    package static var renderWorker: String? { InstalledProgram.worker("pipelined-render") }
    package static var fetchWorker: String? { InstalledProgram.worker("pipelined-fetch") }
    package static var fleetWorker: String? { InstalledProgram.worker("pipelined-fleet") }

    /// Removes a folder that an original has left, and those above it, as far as they are empty.
    package func removeEmptyFolders(ofKept folder: String) {
        for top in [archive, failed, cancelled] { FileSystem.removeEmptyFolders(from: folder, upTo: top) }
    }
}
