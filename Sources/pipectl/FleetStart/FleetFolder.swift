import FoundationEssentials
import Glibc
import SystemCalls

/// The folder with a fleet's authority, and with what its servers and nodes are given.
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

    private func nodesFile(of server: FleetServer, in plan: FleetPlan) -> String {
        FileSystem.join(folder(of: server, in: plan), "nodes.conf")
    }

    /// Makes a fleet: the authority, the servers and the nodes. Returns the files.
    func make(_ plan: FleetPlan) throws -> [String] {
        try checkEmpty()
        let openSSL = try OpenSSL()
        return try WrittenFiles.all { written in
            try written.makeFolder(path, mode: 0o700)
            let key = try openSSL.key()
            let certificate = try openSSL.certificate(.authority, key: key, authority: nil)
            try written.write(certificate, to: authority.certificate)
            try written.write(key, to: authority.key, mode: 0o600)
            try written.write(JSONText.document(plan) + "\n", to: planFile)
            let keys = try plan.servers.map { _ in try openSSL.key() }
            let pins = try keys.map { key in try openSSL.fingerprint(ofKey: key) }
            for (server, key) in zip(plan.servers, keys) {
                let folder = folder(of: server, in: plan)
                try written.makeFolder(folder, mode: 0o700)
                func write(_ text: String, _ name: String, mode: UInt32 = 0o644) throws {
                    try written.write(text, to: FileSystem.join(folder, name), mode: mode)
                }
                try write(plan.configuration(of: server, pins: pins), "nats.conf")
                try write(plan.nodesConfiguration, "nodes.conf")
                try write(FleetPlan.installation, "install.sh")
                try write(openSSL.certificate(.server(server), key: key, authority: authority), "certificate.pem")
                try write(key, "key.pem", mode: 0o600)
                try write(certificate, "authority.pem")
            }
            for node in plan.nodes { try writeJoinFile(of: node, plan, openSSL, written) }
            return written.files
        }
    }

    /// Lets one more node in. Returns the plan, and what was written.
    func add(_ node: String) throws -> (plan: FleetPlan, files: [String]) {
        var plan = try plan()
        try plan.add(node)
        let openSSL = try OpenSSL()
        return try WrittenFiles.all { written in
            try writeJoinFile(of: node, plan, openSSL, written)
            return (plan, written.files + (try rewrite(plan)))
        }
    }

    /// Takes a node's permissions away.
    func remove(_ node: String) throws -> (plan: FleetPlan, files: [String]) {
        var plan = try plan()
        try plan.remove(node)
        let files = try rewrite(plan)
        try FileSystem.remove(joinFile(of: node))
        return (plan, files)
    }

    // MARK: -

    private func checkEmpty() throws(Failure) {
        let names: [String?]
        do {
            guard FileSystem.mayExist(path) else { return }
            names = try FileSystem.names(in: path)
        } catch {
            throw Failure("Exists", "\(error)\nnothing was written; name another folder with --to DIR", .failed)
        }
        guard names.isEmpty else {
            let words =
                "\(path) is not empty; nothing was written\n`pipectl fleet add NODE` adds to a fleet that is there; "
            throw Failure("Exists", words + "another one wants another folder: --to DIR", .failed)
        }
    }

    private func plan() throws(Failure) -> FleetPlan {
        do {
            let file = try Descriptor.open(planFile, O_RDONLY)
            let bytes = try FileSystem.read(file, most: Self.longest, called: planFile)
            return try JSONDecoder().decode(FleetPlan.self, from: Data(bytes))
        } catch {
            let reason = (error as? SystemError).map(String.init(describing:)) ?? "\(planFile) is no fleet's"
            throw Failure(
                "NoFleet", "\(reason)\nname the folder that `pipectl fleet init` wrote with --in DIR", .failed)
        }
    }

    private func rewrite(_ plan: FleetPlan) throws -> [String] {
        let files = plan.servers.map { nodesFile(of: $0, in: plan) }
        for file in files { try FileSystem.write(Array(plan.nodesConfiguration.utf8), to: file) }
        // Comes last: as long as it lacks a node, the node can be added again.
        try FileSystem.write(Array((JSONText.document(plan) + "\n").utf8), to: planFile)
        return files + [planFile]
    }

    private func writeJoinFile(
        of node: String, _ plan: FleetPlan, _ openSSL: OpenSSL, _ written: WrittenFiles
    ) throws {
        let key = try openSSL.key()
        let certificate = try openSSL.certificate(.node(node), key: key, authority: authority)
        let file = try Descriptor.open(authority.certificate, O_RDONLY)
        let bytes = try FileSystem.read(file, most: Self.longest, called: authority.certificate)
        let join = JoinFile(
            node, plan.servers, certificate: certificate, key: key, authority: String(decoding: bytes, as: UTF8.self))
        try written.write(join.text, to: joinFile(of: node), mode: 0o600)
    }
}
