import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Recipes that clients save")
struct OwnRecipeTests {
    private static let small = Control.OutputDraft(chain: "resize width=8 | save format=png")

    private func recipe(_ name: String, of daemon: DaemonFixture) throws -> Control.Recipe? {
        try daemon.call(Call.Recipes()).recipes.first { $0.name == name }
    }

    @Test("a saved recipe works at once and after a restart, changes, and goes while its results stay")
    func life() async throws {
        try await DaemonFixture.with { daemon in
            #expect(
                try daemon.call(Call.SaveRecipe(name: "small", description: "For the web", outputs: [Self.small]))
                    .problems
                    .isEmpty)
            let saved = try #require(try recipe("small", of: daemon))
            #expect(saved.own == true && saved.description == "For the web" && saved.chains == ["": Self.small.chain])
            #expect(try recipe("noir", of: daemon)?.own == false)
            try daemon.drop(as: "small/a.png")
            try await daemon.waitForAll()
            #expect(FileManager.default.fileExists(atPath: daemon.path("outbox/small/a.png")))
            await daemon.stop()
            try await daemon.start()
            let outputs = [
                Self.small, Control.OutputDraft(name: "big", chain: "save format=webp", naming: "{stem}-big"),
            ]
            #expect(try daemon.call(Call.SaveRecipe(name: "small", outputs: outputs)).problems.isEmpty)
            try daemon.drop(as: "small/b.png")
            try await daemon.waitForAll()
            #expect(FileManager.default.fileExists(atPath: daemon.path("outbox/small/b-big.webp")))
            #expect(try daemon.call(Call.RemoveRecipe(name: "small")).problems.isEmpty)
            #expect(try recipe("small", of: daemon) == nil)
            #expect(FileManager.default.fileExists(atPath: daemon.path("outbox/small/a.png")))
        }
    }

    @Test("a recipe with a mistake changes neither the saved recipe nor the configuration in force")
    func mistakes() async throws {
        try await DaemonFixture.with { daemon in
            #expect(try daemon.call(Call.SaveRecipe(name: "small", outputs: [Self.small])).problems.isEmpty)
            for (outputs, message) in [
                ([Control.OutputDraft(chain: "niro")], "did you mean 'noir'?"),
                ([Self.small, Control.OutputDraft(name: "x", chain: "noir", naming: "{nonsense}")], "nonsense"),
            ] {
                let problems = try daemon.call(Call.SaveRecipe(name: "small", outputs: outputs)).problems
                #expect(problems.contains { $0.message.contains(message) }, "\(problems)")
                #expect(try recipe("small", of: daemon)?.chains == ["": Self.small.chain])
            }
            #expect(
                try !daemon.call(Call.SaveRecipe(name: "new", outputs: [Control.OutputDraft(chain: "niro")])).problems
                    .isEmpty)
            #expect(try recipe("new", of: daemon) == nil)
            #expect(try daemon.call(Call.Status()).status.problems.isEmpty)
            await daemon.stop()
            try await daemon.start()
            #expect(try recipe("small", of: daemon)?.problem == nil)
        }
    }

    @Test("an administrator's recipe, a value with two lines and an unknown recipe are refused")
    func refusals() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": "[Output]\nChain=noir\n"]) { daemon in
            for (name, chain, message) in [
                ("web", "sepia", "change it there"), ("a/b", "noir", "can't be a recipe's name"),
                ("x", "noir\nHook=/bin/sh", "a value has one line"), ("noir", "sepia", "take another name"),
            ] {
                #expect {
                    try daemon.call(Call.SaveRecipe(name: name, outputs: [Control.OutputDraft(chain: chain)]))
                } throws: { "\($0)".contains(message) }
            }
            #expect { try daemon.call(Call.SaveRecipe(name: "x", outputs: [])) } throws: {
                "\($0)".contains("has no output")
            }
            #expect { try daemon.call(Call.RemoveRecipe(name: "web")) } throws: { "\($0)".contains("change it there") }
            #expect { try daemon.call(Call.RemoveRecipe(name: "x")) } throws: {
                "\($0)".contains("there is no recipe 'x'")
            }
            #expect { try daemon.call(Call.RemoveRecipe(name: "../x")) } throws: {
                "\($0)".contains("can't be a recipe's name")
            }
        }
    }

    @Test("pipectl saves and removes a recipe, and says what is wrong")
    func pipectl() async throws {
        try await DaemonFixture.with { daemon in
            let chain = "resize width=8 | save format=png"
            #expect(try await daemon.pipectl("recipes", "save", "small", chain).output == "saved small\n")
            #expect(try await daemon.pipectl("recipes").output.contains(chain))
            let wrong = try await daemon.pipectl("recipes", "save", "small", "niro")
            #expect(wrong.status == 1 && wrong.errors.contains("nothing has changed"), "\(wrong)")
            #expect(
                try await daemon.pipectl("recipes", "remove", "small", "--json").output == #"{"removed":"small"}\#n"#)
            for (words, message) in [
                (["save", "x"], "save needs a name and a chain"), (["remove"], "remove needs a name"),
                (["sav", "x"], "did you mean 'save'?"),
                (["save", "x", "noir", "--from", "web"], "--from is for a new recipe"),
            ] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "recipes"] + words)
                #expect(outcome.status != 0 && outcome.errors.contains(message), "\(words): \(outcome)")
            }
        }
    }
}
