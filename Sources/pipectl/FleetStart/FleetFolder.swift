import FoundationEssentials
import Glibc
import SystemCalls

/// A fleet's folder: its authority, its plan, and the files for its servers and nodes.
struct FleetFolder {
    let path: String

    static let usual = "fleet"
    private static let longest = 1 << 20

    init(_ path: String) { self.path = FileSystem.absolute(path) }

    private var authority: (certificate: String, key: String) {
        (FileSystem.join(path, "authority.pem"), FileSystem.join(path, "authority.key"))
    }
    var authorityKey: String { authority.key }
    private var planFile: String { FileSystem.join(path, "fleet.json") }

    func joinFile(of node: String) -> String { FileSystem.join(path, node + JoinFile.suffix) }

    func folder(of server: FleetServer, in plan: FleetPlan) -> String { FileSystem.join(path, plan.folder(of: server)) }

    /// Creates a fleet: authority, servers' folders and nodes' join files. Returns the plan and the written files.
    func make(_ plan: FleetPlan, nodes names: [String]) throws -> (plan: FleetPlan, files: [String]) {
        try checkEmpty()
        let openSSL = try OpenSSL()
        return try WrittenFiles.all { written in
            try written.makeFolder(path, mode: 0o700)
            let key = try openSSL.key(.ed25519)
            let certificate = try openSSL.certificate(.authority, key: key, authority: nil)
            try written.write(certificate, to: authority.certificate)
            try written.write(key, to: authority.key, mode: 0o600)
            let issuer = try FleetAuthority(openSSL, key: key)
            for server in plan.servers {
                let folder = folder(of: server, in: plan)
                let key = try openSSL.key(.p256)
                try written.makeFolder(folder, mode: 0o700)
                func write(_ text: String, _ name: String, mode: UInt32 = 0o644) throws {
                    try written.write(text, to: FileSystem.join(folder, name), mode: mode)
                }
                try write(plan.configuration(of: server, authority: issuer.operator), "nats.conf")
                try write(issuer.nodesConfiguration(of: plan), "nodes.conf")
                try write(FleetPlan.installation, "install.sh")
                try write(openSSL.certificate(.server(server), key: key, authority: authority), "certificate.pem")
                try write(key, "key.pem", mode: 0o600)
                try write(certificate, "authority.pem")
            }
            let whole = try adding(names, to: plan, until: nil, by: issuer, written)
            try written.write(JSONText.document(whole) + "\n", to: planFile)
            return (whole, written.files)
        }
    }

    /// Adds nodes; the servers need no change. Returns the plan and the written files.
    func add(_ names: [String], for time: Duration?) throws -> (plan: FleetPlan, files: [String]) {
        let plan = try plan()
        let end = time.map { now + Int($0 / .seconds(1)) }
        for name in names { try plan.checkFree(name, at: now) }
        let issuer = try FleetAuthority(OpenSSL(), key: text(of: authority.key))
        return try WrittenFiles.all { written in
            let plan = try adding(names, to: plan, until: end, by: issuer, written)
            // The plan is written last. If an earlier step fails, the plan does not contain the new nodes, so a second
            // attempt can add them.
            return (plan, written.files + [try keep(plan)])
        }
    }

    /// Removes a node and revokes its credentials in the servers' files. Returns the plan and the changed files.
    func remove(_ node: String) throws -> (plan: FleetPlan, files: [String]) {
        var plan = try plan()
        try plan.remove(node, at: now)
        let configuration = try FleetAuthority(OpenSSL(), key: text(of: authority.key)).nodesConfiguration(of: plan)
        let files = plan.servers.map { FileSystem.join(folder(of: $0, in: plan), "nodes.conf") }
        for file in files { try FileSystem.write(Array(configuration.utf8), to: file) }
        if FileSystem.mayExist(joinFile(of: node)) { try FileSystem.remove(joinFile(of: node)) }
        return (plan, files + [try keep(plan)])
    }

    // MARK: -

    private func checkEmpty() throws(Failure) {
        var isEmpty = true
        do {
            guard FileSystem.mayExist(path) else { return }
            if try !FileSystem.names(in: path, misnamed: { _ in isEmpty = false }).isEmpty { isEmpty = false }
        } catch {
            throw Failure("Exists", "\(error)\nnothing was written; name another folder with --to DIR", .failed)
        }
        guard isEmpty else {
            let words =
                "\(path) is not empty; nothing was written\n`pipectl fleet add NODE` adds to an existing fleet; "
            throw Failure("Exists", words + "a new fleet needs another folder: --to DIR", .failed)
        }
    }

    private func plan() throws(Failure) -> FleetPlan {
        do {
            return try JSONDecoder().decode(FleetPlan.self, from: Data(text(of: planFile).utf8))
        } catch {
            let reason = (error as? SystemError).map(String.init(describing:)) ?? "\(planFile) is not a fleet's plan"
            throw Failure(
                "NoFleet", "\(reason)\nname the folder that `pipectl fleet init` wrote with --in DIR", .failed)
        }
    }

    private func keep(_ plan: FleetPlan) throws -> String {
        try FileSystem.write(Array((JSONText.document(plan) + "\n").utf8), to: planFile)
        return planFile
    }

    private func adding(
        _ names: [String], to plan: FleetPlan, until end: Int?, by issuer: FleetAuthority, _ written: WrittenFiles
    ) throws -> FleetPlan {
        var plan = plan
        let certificate = try text(of: authority.certificate)
        for name in names {
            let (credentials, key) = try issuer.credentials(of: name, until: end)
            let join = JoinFile(name, plan.servers, credentials: credentials, authority: certificate)
            // If an earlier node of this name has expired, its join file may still exist.
            if FileSystem.mayExist(joinFile(of: name)) { try FileSystem.remove(joinFile(of: name)) }
            try written.write(join.text, to: joinFile(of: name), mode: 0o600)
            plan.add(FleetPlan.Node(name: name, key: key, until: end))
        }
        return plan
    }

    private func text(of path: String) throws -> String {
        let file = try Descriptor.open(path, O_RDONLY)
        return String(decoding: try FileSystem.read(file, most: Self.longest, called: path), as: UTF8.self)
    }

    private var now: Int { Int(Date.now.timeIntervalSince1970) }
}
