import Glibc
import SystemCalls

/// The files in a daemon's configuration folder that make it a node of a fleet.
struct NodeConfiguration {
    let settings: String
    private let credentials: String
    private let authority: String

    /// The beginning of the settings file, by which `remove` recognises a file that `write` made.
    private static let mark = "# Written by `pipectl fleet join`."

    init(in folder: String) {
        func path(_ name: String) -> String { FileSystem.join(folder, name) }
        settings = path("pipelined.conf.d/fleet.conf")
        (credentials, authority) = (path("fleet/node.creds"), path("fleet/authority.pem"))
    }

    /// Throws if any of the files exists: the daemon is already in a fleet, or files of an earlier fleet remain.
    func checkFree() throws(Failure) {
        let files = [settings, credentials, authority]
        guard let file = files.first(where: FileSystem.mayExist) else { return }
        throw Failure(
            "Exists",
            """
            \(file) exists already; nothing was written
            leave that fleet with `pipectl fleet leave`, then join again
            """, .failed)
    }

    /// Removes only the files that `write` made, and returns them.
    func remove() throws -> [String] {
        guard FileSystem.mayExist(settings) else {
            throw Failure("NoFleet", "there is no \(settings): this daemon has not joined a fleet", .failed)
        }
        let file = try Descriptor.open(settings, O_RDONLY)
        let text = String(decoding: try FileSystem.read(file, most: 64 << 10, called: settings), as: UTF8.self)
        guard text.hasPrefix(Self.mark) else {
            throw Failure(
                "Strange",
                "`pipectl fleet join` has not written \(settings); nothing was removed\nremove its [Fleet] by hand, then "
                    + "`pipectl reload`", .failed)
        }
        let others = [credentials, authority].filter { text.contains("=\($0)\n") && FileSystem.mayExist($0) }
        // Removes the settings first, because they refer to the other files.
        for file in [settings] + others { try FileSystem.remove(file) }
        return [settings] + others
    }

    /// - Parameter owner: the daemon's user, to whom the credentials belong
    func write(_ join: JoinFile, owner: UInt32, _ written: WrittenFiles) throws(Failure) {
        for file in [credentials, settings] { try written.makeFolder(FileSystem.folder(of: file)) }
        try written.write(join.credentials, to: credentials, mode: 0o600, owner: owner)
        try written.write(join.authority, to: authority)
        try written.write(text(join), to: settings)
    }

    private func text(_ join: JoinFile) -> String {
        """
        \(Self.mark) `man pipelined.conf` has the other settings of [Fleet].

        [Fleet]
        Name=\(join.name)
        Servers=\(join.servers.joined(separator: " "))
        Credentials=\(credentials)
        Authority=\(authority)

        """
    }
}
