import Foundation
import PipelineControl
import TestTools
import Testing

/// Two real daemons in a fleet with a real server. Daemon `a` renders one picture at a time, and `b` two.
struct FleetPair {
    let a: DaemonFixture
    let b: DaemonFixture
    let server: NATSServer

    /// A filter that never returns.
    private static let waits = Plugin(name: "waits", body: "for (;;) usleep(20000);")
    static let extra = Plugin(name: "extra", body: "return vips_copy(in, out, NULL);")

    private static func files(_ name: String, _ server: NATSServer, _ more: String) -> [String: String] {
        [
            "etc/pipelined.conf": """
            [Daemon]
            CancelGrace=0s
            DrainTimeout=0s
            [Queues]
            Render=\(name == "a" ? 1 : 2)
            [Fleet]
            Servers=\(server.url)
            Name=\(name)
            Give=always
            \(more)
            """,
            "etc/recipes.d/home.recipe": "[Recipe]\nFleet=no\n[Output]\nChain=waits\n",
            "etc/recipes.d/far.recipe": "[Output]\nChain=resize scale=0.5\n",
            "etc/recipes.d/held.recipe": "[Output]\nChain=waits\n",
        ]
    }

    /// Runs `body` with two daemons that both have the filter `waits`. The recipe `home` has Fleet=no; pictures of the
    /// recipes `far` and `held` may be lent. If `lacking` is true, `a` also has a filter that `b` lacks. `wrapper` gets
    /// the root of `a`, and returns the command under which `a` is started.
    static func with(
        _ more: String = "", ofA: String = "", ofB: String = "", lacking: Bool = false,
        under wrapper: (String) throws -> [String] = { _ in [] }, _ body: (FleetPair) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            try await DaemonFixture.with(files("a", server, more + ofA), started: false) { a in
                try await DaemonFixture.with(files("b", server, more + ofB), started: false) { b in
                    for node in [a, b] {
                        try FileManager.default.createDirectory(
                            atPath: node.path("plugins"), withIntermediateDirectories: true)
                    }
                    try waits.compile(to: a.path("plugins/waits.so"))
                    try FileManager.default.copyItem(
                        atPath: a.path("plugins/waits.so"), toPath: b.path("plugins/waits.so"))
                    if lacking { try extra.compile(to: a.path("plugins/extra.so")) }
                    try await b.start()
                    try await a.start(under: wrapper(a.root.path))
                    let pair = FleetPair(a: a, b: b, server: server)
                    try await pair.knows(a, 1)
                    try await body(pair)
                }
            }
        }
    }

    /// The files that `a` has published.
    var published: [String] { a.files(in: "outbox").filter { !$0.contains(".staging") } }

    /// Occupies the only render slot of `a` until the test calls `free`.
    func fill() async throws {
        try a.drop(as: "filler.png", inbox: "inbox/home")
        try await a.job("filler.png", becomes: "running")
    }

    func free() throws {
        let filler = try a.list(["running"]).filter { $0.recipe == "home" }
        _ = try a.call(Call.Cancel(ids: filler.map(\.id)))
    }

    /// Waits until the node sees `others` other nodes that can take pictures.
    func knows(_ node: DaemonFixture, _ others: Int) async throws {
        while try node.status().fleet?.nodes.count(where: { $0.places > 0 }) != others { await Look.again() }
    }

    /// Drops a picture that `b` renders until its job is cancelled. Returns the job's ID once `b` has the picture.
    func hold(_ name: String) async throws -> Int {
        try a.drop(as: name, inbox: "inbox/held")
        let event = try await a.event { $0.job?.input == name && $0.job?.reason == "with the fleet, on b" }
        return try #require(event.job?.id)
    }
}
