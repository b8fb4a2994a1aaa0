import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("The order of system calls")
struct DurabilityOrderTests {
    @Test(
        "claims are durable before their record, results and intent before the rename, publication before disposal",
        arguments: CrashCase.all.prefix(2))
    func order(_ crash: CrashCase) async throws {
        try await DaemonFixture.with(crash.files, started: false) { daemon in
            try daemon.drop(crash.picture, as: crash.path, inbox: crash.inbox)
            let trace = daemon.path("trace")
            try await daemon.start(under: FileCalls.wrapper(recordedIn: trace))
            try await daemon.waitForAll()
            await daemon.stop()
            let calls = try FileCall.read(trace, below: daemon.root.path)
            let claimed = try #require(
                calls.first { $0.name == "fsync" && $0.paths.first?.contains(".pipelined/") == true })
            let recorded = try #require(
                calls.first {
                    $0.name == "pwrite64" && $0.paths == [CrashPoint.ledger] && $0.text.contains(crash.path)
                })
            #expect(claimed.returned < recorded.began)
            let renames = calls.filter { $0.name.hasPrefix("rename") && $0.paths.first?.contains(".staging") == true }
            #expect(renames.count == daemon.files(in: "outbox").count)
            for rename in renames {
                try check(rename, of: String(crash.path.split(separator: "/").last ?? ""), among: calls)
            }
        }
    }

    @Test(
        "the same order holds for a result that another node has returned",
        .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
    func lent() async throws {
        let (trace, seen) = ("trace", "seen")
        let wrapper = { (root: String) in
            try FileCalls.strace(["pwrite64", "fsync"], to: "\(root)/\(seen)")
                + FileCalls.wrapper(recordedIn: "\(root)/\(trace)")
        }
        try await FleetPair.with(under: wrapper) { pair in
            try await pair.fill()
            try pair.a.drop(as: "one.png", inbox: "inbox/far")
            try await pair.a.event { $0.job?.input == "one.png" && $0.job?.reason == "with the fleet, on b" }
            try pair.free()
            try await pair.a.waitForAll()
            await pair.a.stop()
            let calls = try FileCall.read(pair.a.path(trace), below: pair.a.root.path)
            let rename = try #require(
                calls.first { $0.name.hasPrefix("rename") && $0.paths.first?.contains(".staging") == true })
            try check(rename, of: "one.png", among: calls)
            // A worker writes the results' bytes, and only strace records the calls of workers.
            let lines = try pair.a.text(seen).split(separator: "\n")
            let staging = "<\(pair.a.path(rename.paths[0]))>"
            let written = try #require(lines.lastIndex { $0.contains(" pwrite64(") && $0.contains(staging) })
            let made = try #require(lines.firstIndex { $0.contains(" fsync(") && $0.contains(staging) })
            var returned = written
            if lines[written].hasSuffix("<unfinished ...>") {
                let thread = lines[written].prefix { $0 != " " }
                returned = try #require(
                    lines[written...].firstIndex { $0.hasPrefix("\(thread) ") && $0.contains("resumed>") })
            }
            #expect(returned < made)
        }
    }

    private func check(_ rename: FileCall, of original: String, among calls: [FileCall]) throws {
        let (staging, target) = (rename.paths[0], rename.paths[1])
        func first(
            _ name: String, _ path: String, after: Int = -1, where matches: (FileCall) -> Bool = { _ in true }
        ) throws -> FileCall {
            let found = calls.first { $0.name == name && $0.paths == [path] && $0.began > after && matches($0) }
            return try #require(found, "\(name) \(path)")
        }
        let made = try first("fsync", staging)
        let folder = try first("fsync", Self.folder(of: staging), after: made.returned)
        let intent = try first("pwrite64", CrashPoint.ledger, after: folder.returned) { $0.text.contains(target) }
        let intended = try first("fdatasync", CrashPoint.ledger, after: intent.returned)
        #expect(intended.returned < rename.began)
        let shown = try first("fsync", Self.folder(of: target), after: rename.returned)
        let done = try first("pwrite64", CrashPoint.ledger, after: shown.returned) { $0.text.contains("done") }
        let recorded = try first("fdatasync", CrashPoint.ledger, after: done.returned)
        let disposal = try #require(
            calls.first {
                ($0.name.hasPrefix("rename") || $0.name.hasPrefix("unlink")) && $0.began > rename.returned
                    && $0.paths.first?.contains(".pipelined/") == true && $0.paths.first?.hasSuffix(original) == true
            })
        #expect(recorded.returned < disposal.began)
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }
}
