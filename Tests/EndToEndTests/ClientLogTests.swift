import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Clients in the log")
struct ClientLogTests {
    /// Calls that change nothing. The daemon must log every other call, together with the client that made it.
    private static let reading = [
        "Status", "List", "Batches", "FindBatch", "ListIgnored", "Show", "Log", "Explain", "Try", "WhyWaiting", "Sift",
        "NewBatch", "CloseBatch", "Wait", "Watch", "Progress", "Recipes", "Plugins", "Settings",
        "Metrics", "Open", "ListIDs", "NewFile", "Ask", "CheckFleet",
        // This call needs a fleet, so `FleetTests.commands` tests it.
        "Command",
    ]

    @Test("every call that changes something is logged with its caller")
    func peers() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            try daemon.write("http://localhost/a.png", to: "mine/list")
            try daemon.drop(Data("text".utf8), as: "bad.png")
            try await daemon.waitForAll()
            let client = try RawClient(daemon)
            let peer = "user \(User.name(getuid())), process \(getpid())"
            let values = [
                "Add": #"{"name":"a.png"}"#, "AddUrls": #"{"urls":["http://localhost/b.png"]}"#,
                "Cancel": #"{"ids":[1]}"#, "Retry": #"{"ids":[1],"states":[]}"#,
                "Concurrency": #"{"queue":"render","limit":"3","save":true}"#,
                "Pause": #"{"queue":"render","reason":"lunch"}"#, "CancelMatching": #"{"states":["queued"]}"#,
                "Depend": #"{"id":1,"after":[],"remove":[],"anyway":true}"#,
                "Prioritise": #"{"ids":[],"batch":1,"priority":"high"}"#,
                "Clean": #"{"places":["failed"],"older":"30d"}"#, "Forget": #"{"ids":[],"states":["done"]}"#,
                "Redo": #"{"ids":[],"all":true}"#, "Undo": #"{"ids":[],"recipe":"noir"}"#,
                "SaveRecipe": #"{"name":"small","outputs":[{"chain":"noir"}]}"#, "RemoveRecipe": #"{"name":"small"}"#,
            ]
            #expect(try client.ask("NewBatch", "{}").error == nil)
            for method in try DescribedMethod.all(client) where !Self.reading.contains(method.name) {
                let before = daemon.log.components(separatedBy: peer).count
                let files = ["Add": "mine/a.png", "AddList": "mine/list"]
                let passed = try files[method.name].map { [try Descriptor.open(daemon.path($0), O_RDONLY)] } ?? []
                let reply = try client.ask(method.name, values[method.name] ?? method.json(), passed)
                #expect(reply.error == nil, "\(method.name): \(reply)")
                try await daemon.logged { $0.components(separatedBy: peer).count > before }
            }
        }
    }

    @Test("clients' words and file names stay on one line in the log, in NAME.error.txt and on a terminal")
    func forging() async throws {
        let evil = "a\n12:00:00 all jobs cancelled\r\u{1b}[2J\u{9b}31m\u{2028}\u{202e}gpj.png"
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: evil))
            try daemon.write(Data("text".utf8), to: "mine/a.png")
            let name = String(decoding: try JSONEncoder().encode(evil), as: UTF8.self)
            let picture = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
            #expect(try RawClient(daemon).ask("Add", #"{"name":\#(name)}"#, [picture]).error == nil)
            try daemon.drop(Data("text".utf8), as: evil)
            try await daemon.job(evil, becomes: "queued")
            let paused = try await daemon.pipectl("status")
            _ = try daemon.call(Call.Resume(queue: nil))
            try await daemon.waitForAll()
            try await daemon.logged { $0.components(separatedBy: " failed: ").count > 2 }
            var texts = [daemon.log, paused.output]
            for verb in [["list"], ["show", "1"], ["list", "--json"], ["watch", "--since", "0", "--until-idle"]] {
                texts.append(try await Programs.run("pipectl", ["--root", daemon.root.path] + verb).output)
            }
            texts.append(try await daemon.pipectl("pause", evil).errors)
            await daemon.stop()
            let explanations = daemon.files(in: "failed").filter { $0.hasSuffix(".error.txt") }
            #expect(explanations.count == 2)
            for file in explanations { texts.append(try daemon.text("failed/\(file)")) }
            for text in texts {
                #expect(!text.isEmpty)
                #expect(!text.split(separator: "\n").contains { $0.hasPrefix("12:00:00 all") }, "\(text)")
                let driving = text.unicodeScalars.filter { $0.drivesTerminals && $0 != "\n" }
                #expect(driving.isEmpty, "\(driving.map(\.value)) in \(text)")
            }
        }
    }
}
