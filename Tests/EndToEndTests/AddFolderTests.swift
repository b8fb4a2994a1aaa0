import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("pipectl add FOLDER")
struct AddFolderTests {
    private static let recipe = "[Recipe]\nMatch=*.png\n[Output]\nChain=resize scale=0.5 | barrier | noir\n"

    @Test("a folder's pictures go through the recipe as one batch, into a folder of that name, and stay where they are")
    func pictures() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.recipe]) { daemon in
            for name in ["img10.png", "img2.png", "deep/img1.png", ".hidden.png"] {
                try daemon.write(Picture.small, to: "mine/lucerne/\(name)")
            }
            for name in ["notes.txt", "photo.jpg"] { try daemon.write("text", to: "mine/lucerne/\(name)") }
            let folder = daemon.path("mine/lucerne")
            let outcome = try await daemon.pipectl("add", folder, "--recipe", "web", "--wait", "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try outcome.objects().compactMap { $0["batch"] as? Int } == [1, 1, 1])
            let left = outcome.errors.split(separator: "\n").map(String.init)
            #expect(left.count == 3 && left.allSatisfy { $0.contains(#""files":1,"folder":"\#(folder)""#) })
            #expect(left.contains { $0.contains("recipe 'web' takes no *.txt") })
            let jobs = try daemon.list().map(\.input)
            #expect(jobs == ["lucerne/img2.png", "lucerne/img10.png", "lucerne/deep/img1.png"])
            let names = ["lucerne/deep/img1", "lucerne/img10", "lucerne/img2"]
            #expect(daemon.files(in: "outbox/web") == names.map { "\($0).jpg" })
            #expect(daemon.files(in: "archive/web") == names.map { "\($0).png" })
            #expect(daemon.files(in: "mine/lucerne").count == 6)
            #expect(try daemon.call(Call.FindBatch(batch: "lucerne")).batch.done == 3)
        }
    }

    @Test("the recipe decides which names are taken; a chain takes the same names as a recipe without Match=")
    func sifted() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.recipe]) { (daemon) async throws in
            let names = ["a/b.png", "b.JPG", "c.png.part", ".d.png", "e.psd"]
            func ignored(recipe: String? = nil, chain: String? = nil) throws -> [String] {
                try daemon.call(Call.Sift(names: names, recipe: recipe, chain: chain)).ignored.map(\.path)
            }
            #expect(try ignored(recipe: "web") == ["b.JPG", "c.png.part", ".d.png", "e.psd"])
            #expect(try ignored(chain: "noir") == ["c.png.part", ".d.png", "e.psd"])
            #expect(try ignored() == ["c.png.part", ".d.png", "e.psd"])
            #expect(throws: ControlError.self) { _ = try ignored(recipe: "wbe") }
            #expect(throws: ControlError.self) { _ = try ignored(chain: "niro") }
            let many = [String](repeating: "a", count: ControlInterface.mostIDs + 1)
            #expect(throws: ControlError.self) { _ = try daemon.call(Call.Sift(names: many)) }
        }
    }

    @Test("a folder of the outbox must be a relative path that stays inside")
    func place() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            let client = try daemon.client()
            func add(in folder: String) throws -> Control.Job {
                let picture = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
                return try client.call(Call.Add(name: "a.png", folder: folder), descriptors: [picture]).job
            }
            let long = String(repeating: "x", count: 256)
            for folder in ["", "/etc", "..", ".staging", ".staging/x", "a/../b", "a//b", "a/", ".", "a\0b", long] {
                #expect(throws: ControlError.self, "\(folder)") { _ = try add(in: folder) }
            }
            #expect(try add(in: "..a/ b").input == "..a/ b/a.png")
            #expect(try daemon.list().count == 1)
        }
    }
}
