import PipelineModel
import Testing

struct PlannerTests {
    private func output(_ name: String?, _ chain: String) throws -> RecipeOutput {
        RecipeOutput(name: name, chain: try Chain(parsing: chain, catalog: .withNoir))
    }

    @Test("All stages of all outputs become one render, followed by publish and announce")
    func fused() throws {
        let outputs = [
            try output(nil, "resize scale=0.5 | noir"), try output("thumb", "resize width=320 | save format=webp"),
        ]
        let plan = Planner.plan(outputs: outputs, inBatch: true)
        #expect(plan.operations == [.render(plan.pictures), .publish, .announce])
        #expect(plan.results.map(\.name) == [nil, "thumb"])
        #expect(plan.results.map(\.suffix) == ["jpg", "webp"])
        #expect(plan.operations.map(\.kind) == ["render", "publish", "announce"])
        #expect(plan.operations.map(\.queue) == ["render", "publish", "announce"])
        #expect(
            plan.operations.first?.does(.withNoir)
                == "decode for all; resize, noir, encode jpeg; thumb: resize, encode webp")
    }

    @Test("A single output is described simply")
    func single() throws {
        let plan = Planner.plan(
            outputs: [try output(nil, "resize scale=0.5 | noir | save format=avif")], inBatch: false)
        #expect(plan.operations.first?.does(.withNoir) == "decode, resize, noir, encode avif")
    }

    private func plan(_ chains: String..., inBatch: Bool = true) throws -> Plan {
        let outputs = try chains.enumerated().map { try output($0 == 0 ? nil : "other", $1) }
        return Planner.plan(outputs: outputs, inBatch: inBatch)
    }

    private func stages(_ pictures: [PlannedPicture]) -> [String] {
        pictures.map { $0.stages.map(\.name).joined(separator: " ") }
    }

    @Test("A tee is an additional result of the same render, saved as the chain's own")
    func tee() throws {
        let plan = try plan("resize scale=0.5 | tee preview | noir | save format=webp")
        #expect(plan.operations.map(\.kind) == ["render", "publish", "announce"])
        #expect(stages(plan.pictures) == ["resize save", "resize noir save"])
        #expect(plan.results.map(\.name) == ["preview", nil])
        #expect(plan.results.map(\.format) == ["webp", "webp"])
    }

    @Test("A barrier cuts a chain in two, and the intermediate picture is lossless")
    func barrier() throws {
        let plan = try plan("resize scale=0.5 | tee preview | barrier | noir")
        #expect(plan.segments.map(stages) == [["resize save", "resize save"], ["noir save"]])
        #expect(plan.segments[0].map(\.isResult) == [true, false])
        #expect(plan.segments[0][1].format == "png")
        #expect(plan.segments[1][0].source == plan.segments[0][1].index)
        #expect(
            plan.operations.map { $0.does(.withNoir) } == [
                "decode for all; preview: resize, encode jpeg; resize, hand over",
                "once all jobs of the batch are here: log this event, then continue the jobs",
                "decode, noir, encode jpeg", "put the results into the outbox, all or none; then handle the original",
                "log that the results are published",
            ])
    }

    @Test("A job without a batch is not cut")
    func alone() throws {
        let plan = try plan("resize scale=0.5 | barrier | noir", inBatch: false)
        #expect(plan.segments.map(stages) == [["resize noir save"]])
    }

    @Test("A leading barrier hands nothing over, and neither do two in a row")
    func nothingBetween() throws {
        #expect(try plan("barrier | noir").segments.map(stages) == [[], ["noir save"]])
        let twice = try plan("noir | barrier | barrier | resize scale=2")
        #expect(twice.segments.map(stages) == [["noir save"], [], ["resize save"]])
        #expect(twice.segments[2][0].source == twice.segments[0][0].index)
    }

    @Test("Each output is cut at its own barriers, and an output without barriers is made at once")
    func several() throws {
        let plan = try plan("resize scale=0.5 | barrier | noir", "resize width=100")
        #expect(plan.segments.map(stages) == [["resize save", "resize save"], ["noir save"]])
        #expect(plan.results.map(\.name) == ["other", nil] || plan.results.map(\.name) == [nil, "other"])
    }
}
