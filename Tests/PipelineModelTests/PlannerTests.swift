import PipelineModel
import Testing

struct PlannerTests {
    private func output(_ name: String?, _ chain: String) throws -> RecipeOutput {
        RecipeOutput(name: name, chain: try Chain(parsing: chain, catalog: .withNoir))
    }

    @Test("All stages of all outputs become one render, then publish, then announce")
    func fused() throws {
        let outputs = [
            try output(nil, "resize scale=0.5 | noir"), try output("thumb", "resize width=320 | save format=webp"),
        ]
        let plan = Planner.plan(outputs: outputs)
        #expect(plan.operations == [.render(outputs: outputs), .publish, .announce])
        #expect(plan.operations.map(\.kind) == ["RenderOperation", "PublishOperation", "AnnounceOperation"])
        #expect(plan.operations.map(\.queue) == ["render", "publish", "announce"])
        #expect(
            plan.operations.first?.does
                == "decode once per output; resize, noir, encode jpeg; thumb: resize, encode webp")
    }

    @Test("A single output is told without ado")
    func single() throws {
        let plan = Planner.plan(outputs: [try output(nil, "resize scale=0.5 | noir | save format=avif")])
        #expect(plan.operations.first?.does == "decode, resize, noir, encode avif")
    }
}
