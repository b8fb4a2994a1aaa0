import Foundation

/// Chooses how far an endless kind of test goes: `./run test` looks at a selection, `./run test --all` at much more.
public enum Sweep {
    private static let isWhole = ProcessInfo.processInfo.environment["PIPELINED_SWEEP"] == "all"

    public static func of<Bound>(_ some: Bound, all: Bound) -> Bound { isWhole ? all : some }
}
