import PipelineModel
import SystemCalls

extension Verb {
    /// The JSON that `init`, `add` and `remove` print. All values are paths.
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
        let (plan, files) = try folder.make(FleetPlan(servers: servers), nodes: FleetPlan.names(nodes))
        let made = Made(plan, folder, nodes: plan.nodes.map(\.name), files)
        guard !context.json else { return try context.output.document(made) }
        let count = "\(Amount.counted(plan.servers.count, "server")), \(Amount.counted(plan.nodes.count, "node"))"
        try context.output.lines(
            ["\("wrote", .good) \(folder.path): an authority, \(count)", ""]
                + serverStep(made)
                + nodeStep(made)
                + step("Keep secret:", "you need it to add nodes, and anyone who has it can", [folder.authorityKey]))
    }

    static func addNodes(_ list: String, _ folder: FleetFolder, _ context: Context) throws {
        let names = try FleetPlan.names(list)
        let (plan, files) = try folder.add(names, for: try memberTime(context))
        let made = Made(plan, folder, nodes: names, files)
        guard !context.json else { return try context.output.document(made) }
        try context.output.lines(made.nodes.map { "\("wrote", .good) \($0)" } + [""] + nodeStep(made))
    }

    private static func memberTime(_ context: Context) throws(Failure) -> Duration? {
        guard let text = context.invocation.value(.memberTime) else { return nil }
        guard let time = Duration(text: text), time >= .seconds(1), time <= .seconds(86400 * 36500) else {
            throw .usage("--for \(text) is not a time; write it like 12h or 30d")
        }
        return time
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

    private static func nodeStep(_ made: Made) -> [Text] {
        step("Each node:", "copy its file there, then: sudo pipectl fleet join FILE, and remove it", made.nodes)
    }

    private static func step(_ head: String, _ words: String, _ paths: [String]) -> [Text] {
        let width = 14
        let indent = String(repeating: " ", count: width)
        return [Text(head + indent.dropFirst(head.count) + words)] + paths.map { Text(indent + $0, .faint) }
    }
}
