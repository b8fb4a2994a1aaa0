import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Hours of recipes")
struct HoursTests {
    /// Returns a recipe. Its hours include the present time if `isOpen`, and otherwise begin in two to three hours.
    private static func recipe(isOpen: Bool) -> String {
        let hour = Calendar.current.component(.hour, from: Date())
        let (start, end) = isOpen ? (hour + 23, hour + 3) : (hour + 3, hour + 4)
        return "[Recipe]\nHours=\(start % 24)-\(end % 24)\n[Output]\nChain=resize scale=0.5\n"
    }

    @Test("a picture waits outside its recipe's hours, over a restart, until a reload changes them; others go on")
    func hours() async throws {
        let files = ["etc/recipes.d/web.recipe": Self.recipe(isOpen: false)]
        try await DaemonFixture.with(files) { daemon in
            let start = (Calendar.current.component(.hour, from: Date()) + 3) % 24
            try daemon.drop(as: "night.png", inbox: "inbox/web")
            try daemon.drop(as: "day.png")
            let id = try await daemon.job("night.png", becomes: "waiting")
            try await daemon.job("day.png", becomes: "done")
            let begin = start < 10 ? "0\(start):00" : "\(start):00"
            let reason = "outside Hours=\(start)-\((start + 1) % 24) of recipe web; they begin at \(begin)"
            #expect(try daemon.list().first { $0.id == id }?.reason == reason)
            let status = try daemon.status()
            #expect(status.waiting.map(\.reason) == [reason] && status.problems == [])
            #expect(try await daemon.pipectl("show", "\(id)").output.contains(reason))
            let recipes = try daemon.call(Call.Recipes()).recipes
            #expect(recipes.first { $0.name == "web" }?.hours == "\(start)-\((start + 1) % 24)")
            await daemon.stop()
            try await daemon.start()
            try await daemon.job("night.png", becomes: "waiting")
            try daemon.write(Self.recipe(isOpen: true), to: "etc/recipes.d/web.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.job("night.png", becomes: "done")
        }
    }

    @Test("invalid hours are refused with the line and an example")
    func mistake() async throws {
        let files = ["etc/recipes.d/web.recipe": "[Recipe]\nHours=at night\n[Output]\nChain=noir\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(outcome.status == 78)
            let line = "web.recipe:2: Hours=at night is not a range of hours; write it like 22-06"
            #expect((outcome.output + outcome.errors).contains(line), "\(outcome)")
        }
    }
}
