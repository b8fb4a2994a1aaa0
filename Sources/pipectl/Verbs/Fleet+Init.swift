import SystemCalls

extension Verb {
    /// What `init`, `add` and `remove` print as JSON: paths.
    private struct Made: Encodable {
        let folder: String
        let servers: [String]
        let nodes: [String]
        let files: [String]

        init(_ plan: FleetPlan, _ folder: FleetFolder, nodes: [String], _ files: [String]) {
            (self.folder, self.files) = (folder.path, files.sorted())
            servers = plan.servers.map { folder.folder(of: $0, in: plan) }
            self.nodes = nodes.map(folder.joinFile)
        }
    }

    static func beginFleet(servers: String, nodes: String, _ folder: FleetFolder, _ context: Context) throws {
        let plan = try FleetPlan(servers: servers, nodes: nodes)
        let files = try folder.make(plan)
        let made = Made(plan, folder, nodes: plan.nodes, files)
        guard !context.json else { return try context.output.document(made) }
        let count = "\(Amount.counted(plan.servers.count, "server")), \(Amount.counted(plan.nodes.count, "node"))"
        try context.output.lines(
            ["\("wrote", .good) \(folder.path): an authority, \(count)", ""]
                + serverStep(made)
                + step(
                    "Each node:", "copy its file there, then: sudo pipectl fleet join FILE, and remove it", made.nodes)
                + step("Keep:", "it lets more nodes in, whoever has it", [folder.authorityKey]))
    }

    static func addNode(_ node: String, _ folder: FleetFolder, _ context: Context) throws {
        let (plan, files) = try folder.add(node)
        let made = Made(plan, folder, nodes: [node], files)
        guard !context.json else { return try context.output.document(made) }
        try context.output.lines(
            ["\("wrote", .good) \(folder.joinFile(of: node))", ""] + serverStep(made)
                + step(
                    "The node:", "copy its file there, then: sudo pipectl fleet join FILE, and remove it", made.nodes))
    }

    static func removeNode(_ node: String, _ folder: FleetFolder, _ context: Context) throws {
        let (plan, files) = try folder.remove(node)
        let made = Made(plan, folder, nodes: [], files)
        guard !context.json else { return try context.output.document(made) }
        try context.output.lines(["\("removed", .good) \(node)", ""] + serverStep(made))
    }

    private static func serverStep(_ made: Made) -> [Text] {
        step("Each server:", "copy its folder there, then: sudo sh FOLDER/install.sh", made.servers)
    }

    private static func step(_ head: String, _ words: String, _ paths: [String]) -> [Text] {
        let width = 14
        let indent = String(repeating: " ", count: width)
        return [Text(head + indent.dropFirst(head.count) + words)] + paths.map { Text(indent + $0, .faint) }
    }
}
