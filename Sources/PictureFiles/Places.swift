import Glibc
package import SystemCalls

/// Paths of the daemon's files: in the system's folders, or all below one folder with `--root`.
package struct Places: Sendable, Hashable {
    package var root: String?
    package var configuration: String
    package var data: String
    package var run: String
    /// Plugin folders. If several have a filter of the same name, the first folder wins.
    package var plugins: [String]
    /// The daemon's name, if it is one of several on the system.
    package var instance: String?

    package static let system = Places(
        root: nil, configuration: "/etc/pipelined", data: "/var/lib/pipelined", run: "/run/pipelined",
        plugins: ["/usr/local/lib/pipelined/plugins", installedPlugins])

    /// The system's paths for a named daemon, one of several on this system. All daemons share the system's plugin
    /// folders.
    package static func instance(_ name: String) -> Places {
        func own(_ path: String) -> String { "\(path)@\(name)" }
        return Places(
            root: nil, configuration: own(system.configuration), data: own(system.data), run: own(system.run),
            plugins: system.plugins, instance: name)
    }

    /// The options that make `pipectl` and `pipelined` address this daemon, with a leading space.
    package var words: String {
        root.map { " --root \($0)" } ?? instance.map { " --instance \($0)" } ?? ""
    }

    /// Paths below `folder`, which may be relative. The plugin folders include the folder of the filters that come with
    /// the program.
    package static func below(_ folder: String) -> Places {
        laidOut(below: FileSystem.resolved(FileSystem.join(FileSystem.workingFolder, folder)))
    }

    /// Paths below `root`. Links in `root` stay unresolved.
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
    /// Originals that `--give-back` could not return to their inboxes, and spool files that belong to no job.
    package var recovered: String { "\(data)/recovered" }
    package var state: String { "\(data)/state" }
    package var pluginCopies: String { "\(state)/plugins" }
    package var spool: String { "\(state)/spool" }
    package var previews: String { "\(state)/previews" }
    package var ledger: String { "\(state)/ledger.sqlite" }
    /// Explains a lost or damaged ledger to the user: see `LedgerFile`.
    package var ledgerNote: String { "\(state)/ledger-lost.txt" }
    /// Disk space that is reserved for the ledger: see `LedgerReserve`.
    package var reserve: String { "\(state)/reserve" }
    package var saved: String { "\(state)/saved.conf" }
    /// The recipes that clients have made.
    package var ownRecipes: String { "\(state)/recipes.d" }
    package func ownRecipe(_ name: String) -> String { "\(ownRecipes)/\(name).recipe" }
    package var lastGood: String { "\(state)/last-good.json" }
    package var identity: String { "\(state)/id" }
    /// Records the data folder's path at the latest start.
    package var place: String { "\(state)/place" }
    /// A file that exists from the daemon's start until a clean stop, so that a start after a crash finds it: see
    /// `CrashPause`.
    package var comeback: String { "\(state)/comeback" }
    package var lock: String { "\(state)/lock" }
    package var socket: String { "\(run)/control.sock" }
    /// The socket for clients with read-only access.
    package var lookSocket: String { "\(run)/look.sock" }

    /// Folders that the daemon writes to. None of them may be inside an inbox or contain one.
    package var own: [String] { [archive, failed, cancelled, state, run] }

    package func make() throws(SystemError) {
        for folder in [inbox, outbox, archive, failed, cancelled, run] { try FileSystem.makeFolders(folder) }
        // The ledger contains passwords from URLs, and the spool contains whole pictures. So only the daemon's user may
        // read them.
        for folder in [state, spool] {
            try FileSystem.makeFolders(folder, mode: 0o700)
            try FileSystem.keepPrivate(folder, mode: 0o700)
        }
        for file in [ledger, "\(ledger)-wal", "\(ledger)-shm"] { try FileSystem.keepPrivate(file, mode: 0o600) }
        if root != nil { try FileSystem.makeFolders(recipes) }
    }

    /// The folder of the filters that come with the program. In a build, it is the program's own folder.
    package static var ownPlugins: String { FileSystem.mayExist(installedPlugins) ? installedPlugins : programFolder }

    /// In an installation, the folder of the filters that come with the program.
    private static var installedPlugins: String { "\(FileSystem.folder(of: programFolder))/lib/pipelined/plugins" }

    package static var programFolder: String { InstalledProgram.folder }

    package static var renderWorker: String? { InstalledProgram.worker("pipelined-render") }
    package static var fetchWorker: String? { InstalledProgram.worker("pipelined-fetch") }
    package static var fleetWorker: String? { InstalledProgram.worker("pipelined-fleet") }

    /// Removes the folder that an original has left, if it is empty, and the empty folders above it.
    package func removeEmptyFolders(ofKept folder: String) {
        for top in [archive, failed, cancelled] { FileSystem.removeEmptyFolders(from: folder, upTo: top) }
    }
}
