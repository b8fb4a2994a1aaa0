import Foundation
import Glibc

/// The nodes of a fleet and their server, all on this machine. Each node is a daemon with a root of its own. Pictures
/// are dropped at the first node.
final class FleetContender: Contender {
    struct Plan {
        var nodes = 1
        /// The number of places in each node's render queue. For the first node, `firstPlaces` overrides it.
        var places: Int
        var firstPlaces: Int?
        var give = "always"
        /// Whether pictures that never finish occupy all places of the first node, so that all other pictures are lent.
        var isFull = false
    }

    let name: String
    let stays = true
    private let plan: Plan
    private let filters: [String]
    private let chain: String?
    private var server: NATSServer?
    private var nodes: [Daemon] = []
    private var results = 0
    /// The total bytes of a round's pictures.
    private var size = 0.0

    /// `chain` replaces the job's own recipe.
    init(_ name: String, _ plan: Plan, filters: [String] = [], chain: String? = nil) {
        (self.name, self.plan, self.filters, self.chain) = (name, plan, filters, chain)
    }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws {
        let names = ["a", "b", "c"].prefix(plan.nodes)
        if plan.nodes > 1 { server = try NATSServer(setup, in: "\(folder)-server", nodes: Array(names)) }
        for name in names {
            let node = try Daemon(
                setup.programs, root: "\(folder)-\(name)",
                recipe: chain.map { "[Output]\nChain=\($0)\n" } ?? job.recipe,
                files: files(isFirst: nodes.isEmpty), filters: filters)
            nodes.append(node)
            if let server { _ = try node.pipectl("fleet", "join", server.join(of: name)) }
        }
        for node in nodes { try node.awaitNodes(plan.nodes - 1) }
        if plan.isFull { try fill(setup) }
        results = job.outputs.count
        let pictures = job.pictures.files(job.count, in: setup.pictures)
        size = try pictures.reduce(0) { $0 + Double(try Data(contentsOf: URL(fileURLWithPath: $1)).count) }
        try nodes[0].prepare(pictures)
    }

    private func files(isFirst: Bool) -> [String: String] {
        let places = isFirst ? plan.firstPlaces ?? plan.places : plan.places
        return [
            "etc/pipelined.conf": """
            [Daemon]
            DrainTimeout=0s
            CancelGrace=0s
            JobTimeout=1h
            HangTimeout=1h
            [Queues]
            Render=\(places)
            [Fleet]
            Give=\(plan.give)
            Places=\(places)

            """,
            "etc/recipes.d/full.recipe": "[Recipe]\nInbox=full\nFleet=no\n[Output]\nChain=waits seconds=3600\n",
        ].filter { plan.isFull || !$0.key.hasSuffix("full.recipe") }
    }

    private func fill(_ setup: Setup) throws {
        let (first, count) = (nodes[0], plan.firstPlaces ?? plan.places)
        try Folder.make("\(first.root)/inbox/full")
        for (index, picture) in PictureSet.small.files(count, in: setup.pictures).enumerated() {
            try Folder.copy(picture, to: "\(first.root)/prepared/\(index)")
            try Folder.move("\(first.root)/prepared/\(index)", to: "\(first.root)/inbox/full/\(index).jpg")
        }
        try first.wait("its places are taken") { try first.jobs("running") == count }
    }

    func round() throws -> Sample {
        guard let first = nodes.first else { throw BenchError("\(name) was not begun") }
        let count = Folder.names(in: "\(first.root)/prepared").count
        let (before, received) = (cpu, try server?.received() ?? 0)
        let wall = try first.work()
        // Count the work that the nodes do after the last picture, too.
        usleep(100_000)
        let sample = Sample(
            pictures: count, cpu: cpu - before, wall: wall, memory: 0, wire: (try server?.received() ?? 0) - received)
        guard !plan.isFull || sample.wire > size else { throw BenchError("not all pictures were lent") }
        try first.clear(results: count * results)
        Folder.settle()
        return sample
    }

    private var cpu: Double { nodes.reduce(server?.cpu ?? 0) { $0 + $1.tree.cpu } }

    func end() {
        for node in nodes { node.stop() }
        server?.stop()
        (nodes, server) = ([], nil)
    }
}

extension Daemon {
    /// Waits until `count` other nodes take pictures.
    func awaitNodes(_ count: Int) throws {
        try wait("\(count) other nodes are there") {
            let told = try pipectl("status", "--json")
            let overview = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
            let nodes = (overview?["fleet"] as? [String: Any])?["nodes"] as? [[String: Any]] ?? []
            return nodes.count { ($0["places"] as? Int ?? 0) > 0 } == count
        }
    }

    func wait(_ what: String, until isSo: () throws -> Bool) throws {
        let begun = Clock.now
        while try !isSo() {
            usleep(50_000)
            guard Clock.now - begun < 60 else {
                throw BenchError("\(root) waited in vain until \(what):\n\(Folder.end(of: "\(root)/log"))")
            }
        }
    }
}
