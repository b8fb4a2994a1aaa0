import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Starting a recipe")
struct RecipeStartTests {
    private static let kinds = ["web", "archive", "square", "print", "noir"]

    @Test("each kind of recipe works after a reload, and makes its results")
    func kinds() async throws {
        try await DaemonFixture.with { daemon in
            for kind in Self.kinds {
                let outcome = try await daemon.pipectl("recipes", "new", "my-\(kind)", "--from", kind)
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.output.hasPrefix("wrote \(daemon.path("etc/recipes.d/my-\(kind).recipe"))\n"))
                #expect(outcome.output.contains("pipectl reload"))
            }
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.name) == ["noir"])
            #expect(try await daemon.pipectl("reload").status == 0)
            for kind in Self.kinds { try daemon.drop(as: "sunset.png", inbox: "inbox/my-\(kind)") }
            try await daemon.waitForAll()
            #expect(
                daemon.files(in: "outbox") == [
                    "my-archive/sunset.preview.jpg", "my-archive/sunset.tif", "my-noir/sunset.jpg",
                    "my-print/sunset.jpg",
                    "my-square/sunset.jpg", "my-square/sunset.whole.jpg", "my-web/sunset.thumb.jpg",
                    "my-web/sunset.webp",
                ])
        }
    }

    @Test(
        "existing and invalid names are refused, and a recipe that the daemon can't use is removed again")
    func refused() async throws {
        try await DaemonFixture.with { daemon in
            func begin(_ words: String...) async throws -> Outcome {
                try await Programs.run("pipectl", ["--root", daemon.root.path, "recipes"] + words)
            }
            #expect(try await begin("new", "shop").status == 0)
            #expect(try await begin("new", "print").status == 0)
            #expect(try daemon.text("etc/recipes.d/print.recipe").contains("Description=For print: "))
            let text = try daemon.text("etc/recipes.d/shop.recipe")
            let again = try await begin("new", "shop", "--from", "square")
            #expect(again.status == 1 && again.errors.contains("exists already; nothing was written"))
            #expect(try daemon.text("etc/recipes.d/shop.recipe") == text)
            for name in ["../shop", "-shop", "", "a b", ".shop", String(repeating: "s", count: 61)] {
                #expect(try await begin("new", "--", name).status == 2, "\(name)")
            }
            let unknown = try await begin("new", "shop", "--from", "poster")
            #expect(unknown.status == 2 && unknown.errors.contains("web, archive, square, print, noir"))
            #expect(try await begin("shop").status == 2)
            #expect(try await begin("--from", "web").errors.contains("is for a new recipe"))

            // This recipe already uses the inbox `taken`.
            try daemon.write(
                "[Recipe]\nInbox=taken\n[Output]\nChain=noir\n", to: "etc/recipes.d/first.recipe")
            #expect(try await daemon.pipectl("reload").status == 0)
            let taken = try await begin("new", "taken")
            #expect(taken.status == 1 && taken.errors.contains("can't use it, so nothing was written"), "\(taken)")
            #expect(!daemon.exists("etc/recipes.d/taken.recipe"))
        }
    }

    @Test("a trial reload reports the same problems as a real one, and changes nothing")
    func trial() async throws {
        try await DaemonFixture.with { daemon in
            #expect(try await daemon.pipectl("reload", "--check").output == "configuration and plugins are right\n")
            try daemon.write("[Output]\nChain=niro\n", to: "etc/recipes.d/wrong.recipe")
            let wrong = try await daemon.pipectl("reload", "--check")
            #expect(wrong.status == 1 && wrong.errors.contains("a reload would change nothing:"), "\(wrong)")
            #expect(wrong.errors.contains("wrong.recipe:2: unknown stage 'niro'"))
            #expect(try daemon.status().problems == [])
            try daemon.write("[Output]\nChain=noir\n", to: "etc/recipes.d/wrong.recipe")
            #expect(try daemon.call(Call.Reload(check: true)).problems == [])
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.name) == ["noir"])
            #expect(try daemon.call(Call.Reload()).problems == [])
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.name) == ["noir", "wrong"])
        }
    }

    @Test("writing a recipe elsewhere needs no daemon")
    func elsewhere() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Programs.run(
                "pipectl", ["--socket", "/nowhere", "recipes", "new", "mine", "--to", folder, "--json"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try outcome.document()["file"] as? String == "\(folder)/mine.recipe")
            let text = try String(contentsOfFile: "\(folder)/mine.recipe", encoding: .utf8)
            #expect(try outcome.document()["text"] as? String == text)
            let nowhere = try await Programs.run(
                "pipectl", ["recipes", "new", "mine", "--to", "\(folder)/missing"])
            #expect(nowhere.status == 1 && nowhere.errors.contains("--to DIR"), "\(nowhere)")
        }
    }
}
