import SystemCalls

/// The files by which a daemon belongs to a fleet, below the folder of its configuration.
struct NodeConfiguration {
    let settings: String
    private let certificate: String
    private let key: String
    private let authority: String

    init(in folder: String) {
        func path(_ name: String) -> String { FileSystem.join(folder, name) }
        settings = path("pipelined.conf.d/fleet.conf")
        (certificate, key, authority) = (
            path("fleet/certificate.pem"), path("fleet/key.pem"), path("fleet/authority.pem")
        )
    }

    /// Throws if the daemon is in a fleet already, or was.
    func checkFree() throws(Failure) {
        let files = [settings, certificate, key, authority]
        guard let file = files.first(where: FileSystem.mayExist) else { return }
        throw Failure(
            "Exists",
            """
            \(file) is here already; nothing was written
            to leave that fleet:  rm -f \(files.joined(separator: " "))
            then join again
            """, .failed)
    }

    /// - Parameter owner: the daemon's user, to whom the key belongs
    func write(_ join: JoinFile, owner: UInt32, _ written: WrittenFiles) throws(Failure) {
        for file in [certificate, settings] { try written.makeFolder(FileSystem.folder(of: file)) }
        try written.write(join.certificate, to: certificate)
        try written.write(join.key, to: key, mode: 0o600, owner: owner)
        try written.write(join.authority, to: authority)
        try written.write(text(join), to: settings)
    }

    private func text(_ join: JoinFile) -> String {
        """
        # Written by `pipectl fleet join`. `man pipelined.conf` has the other settings of [Fleet].

        [Fleet]
        Name=\(join.name)
        Servers=\(join.servers.joined(separator: " "))
        Certificate=\(certificate)
        Key=\(key)
        Authority=\(authority)

        """
    }
}
