import Foundation

/// Chooses the size of an exhaustive test: `./run test` tests a selection of the cases, and `./run test --all` many
/// more.
public enum Sweep {
    private static let isWhole = ProcessInfo.processInfo.environment["PIPELINED_SWEEP"] == "all"

    public static func of<Bound>(_ some: Bound, all: Bound) -> Bound { isWhole ? all : some }
}
