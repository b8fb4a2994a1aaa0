import Foundation

/// Chooses the size of an exhaustive test: `./run test` runs a selection, `./run test --all` much more.
public enum Sweep {
    private static let isWhole = ProcessInfo.processInfo.environment["PIPELINED_SWEEP"] == "all"

    public static func of<Bound>(_ some: Bound, all: Bound) -> Bound { isWhole ? all : some }
}
