import Foundation
import Glibc
import Synchronization
import TestTools
import Testing

@Suite("A power cut at any moment", .enabled(if: FaultyDisk.isPermitted, FaultyDisk.absence))
struct PowerCutTests {
    @Test(
        "every picture is in one place, every result is whole and published once, and acknowledged commands hold",
        arguments: Sweep.of([.dropped, .twoResults], all: PowerCutCase.all))
    func cut(_ crash: PowerCutCase) async throws {
        try await PowerCutTrial.with(crash) { trial in
            let states = trial.states()
            var random = SeededNumbers(seed: 1)
            let some = states.shuffled(using: &random).prefix(Sweep.of(15, all: 20))
            try await Self.check(some, of: trial)
            print("\(crash.testDescription): \(some.count) of \(states.count) states")
        }
    }

    @Test(
        "a cut does harm when a necessary sync is omitted",
        .enabled(if: Sweep.of(false, all: true) || minutes != nil, "./run test --all runs it"),
        arguments: minutes == nil ? [.dropped, .undo] : PowerCutCase.all.filter { !$0.needs.isEmpty })
    func leftOut(_ crash: PowerCutCase) async throws {
        try await PowerCutTrial.with(crash) { trial in
            let usual = Set(trial.states().map(\.hash))
            var harmful = crash.needs.mapValues { _ in 0 }
            for (index, _, path) in trial.record.syncs {
                let need = crash.needs.first { fnmatch($0.key, path, FNM_PATHNAME) == 0 }
                // For each pattern in `needs`, the test examines syncs until enough of them have done harm. With
                // PIPELINED_POWERCUT, it also examines all other syncs except those of SQLite.
                let isOpen = need.map { (harmful[$0.key] ?? 0) < $0.value } ?? false
                guard isOpen || Self.minutes != nil && !path.hasPrefix("/state/ledger") && path != "/state" else {
                    continue
                }
                let states = trial.states(withoutSync: index, besides: usual, most: 6)
                let harm = try await trial.harm(in: states)
                let outcome = harm?.description ?? "no harm in \(states.count) states"
                print("\(crash.testDescription): without sync \(index) of \(path): \(outcome)")
                fflush(nil)
                if harm != nil, let need { harmful[need.key, default: 0] += 1 }
            }
            for (path, count) in crash.needs {
                #expect((harmful[path] ?? 0) >= count, "no state shows that \(count) syncs of \(path) are needed")
            }
        }
    }

    @Test(
        "a cut does harm when a result is renamed before its intent is durable",
        .enabled(if: Sweep.of(false, all: true), "./run test --all runs it"))
    func intentBehindRename() async throws {
        try await PowerCutTrial.with(.dropped) { trial in
            let usual = Set(trial.states().map(\.hash))
            let trial = try trial.withRenameBeforeIntent()
            let states = trial.states().filter { !usual.contains($0.hash) }
            #expect(try await trial.harm(in: states.prefix(20)) != nil, "no harm in \(states.count) states")
        }
    }

    @Test(
        "pictures survive cuts for as long as ./run powercut says, with ever more states",
        .enabled(if: PowerCutTests.minutes != nil, "./run powercut MINUTES runs it"))
    func long() async throws {
        let end = ContinuousClock.now + .seconds(60 * (Self.minutes ?? 0))
        let tried = Tally()
        var rounds = 0
        while ContinuousClock.now < end {
            rounds += 1
            let round = rounds
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, crash) in PowerCutCase.all.enumerated() {
                    // Run three trials at once, because a daemon often waits during its start.
                    if index >= 3 { try await group.next() }
                    group.addTask {
                        try await PowerCutTrial.with(crash) { trial in
                            let states = trial.states(seed: UInt64(round), draws: 200)
                            var random = SeededNumbers(seed: UInt64(round))
                            for state in states.shuffled(using: &random) where ContinuousClock.now < end {
                                try await Self.check([state], of: trial)
                                tried.add(crash.testDescription)
                            }
                            print("round \(round), \(crash.testDescription): \(states.count) states; so far \(tried)")
                            fflush(nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        print("\(tried)")
    }

    private static let minutes = ProcessInfo.processInfo.environment["PIPELINED_POWERCUT"].flatMap(Int.init)

    private static func check(_ states: some Sequence<PowerCutTrial.State>, of trial: PowerCutTrial) async throws {
        for state in states {
            let accounts = try await trial.accounts(on: state.image)
            #expect(
                trial.allows(accounts, in: state),
                """
                \(trial.crash.testDescription): \(state.description)
                is
                \(accounts)
                and not
                \(trial.after)
                """)
        }
    }
}

/// Named counters, protected by a lock.
private final class Tally: CustomStringConvertible, Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func add(_ what: String) { counts.withLock { $0[what, default: 0] += 1 } }

    var description: String {
        counts.withLock { counts in
            let each = counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            return "\(counts.values.reduce(0, +)) states (\(each.joined(separator: "; ")))"
        }
    }
}
