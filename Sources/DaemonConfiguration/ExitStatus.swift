/// The daemon's exit status. Numbers above 1 have the meaning of sysexits.h.
package enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 64
    case taken = 75
    case configuration = 78

    package var meaning: String {
        switch self {
        case .done: "stopped as asked, or nothing is wrong"
        case .failed: "can't run"
        case .usage: "wrong usage"
        case .taken: "another daemon runs on the same root"
        case .configuration:
            "the settings are wrong, and none were right before; with --check anything in the configuration is wrong"
        }
    }
}
