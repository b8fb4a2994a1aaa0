/// Turns outputs into the few operations they need.
public enum Planner {
    /// libvips streams: all stages of all outputs fuse into one render.
    public static func plan(outputs: [RecipeOutput]) -> Plan {
        Plan(operations: [.render(outputs: outputs), .publish, .announce])
    }
}
