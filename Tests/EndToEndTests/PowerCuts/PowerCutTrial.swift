import Foundation
import PipelineControl
import TestTools
import Testing

/// A case with a recording of all its disk changes. Derives the states that a power cut can leave.
struct PowerCutTrial {
    let crash: PowerCutCase
    var record: DiskRecord
    private let daemon: DaemonFixture
    /// The accounts at the end: `before` without the command, `after` with it.
    private(set) var before = Accounts()
    private(set) var after = Accounts()

    private init(_ crash: PowerCutCase, _ record: DiskRecord, _ daemon: DaemonFixture) async throws {
        (self.crash, self.record, self.daemon) = (crash, record, daemon)
        var cut = PowerCut(record)
        for change in record.changes { cut.apply(change) }
        before = try await accounts(on: record.first)
        after = try await accounts(on: cut.latest)
    }

    /// A state of the disk after the power cut, with which the daemon is started again.
    struct State {
        fileprivate var cut: PowerCut
        fileprivate var choice: PowerCut.Choice
        /// Whether the user was told before the cut that the command had succeeded.
        var isAcknowledged: Bool
        var moment: String
        var hash: Int

        var image: DiskImage { cut.image(choice) }
        var description: String { "cut \(moment); \(choice.words)" }
    }

    /// Records the case, then runs `body`. While `body` runs, the daemon's root is an empty disk in memory, to which
    /// the trial writes each state. The files on that disk get new inode numbers, although a real power cut would not
    /// change the numbers. For this reason, the disk is of a kind on which the daemon ignores inode numbers.
    static func with(_ crash: PowerCutCase, _ body: (PowerCutTrial) async throws -> Void) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let record: DiskRecord = try await FaultyDisk.with(daemon.root.path) { disk in
                try await Self.record(crash, daemon, on: disk)
            }
            try await Mount.withoutInodes(daemon.root.path, size: "256m") { _ in
                try await body(PowerCutTrial(crash, record, daemon))
            }
        }
    }

    private static func record(
        _ crash: PowerCutCase, _ daemon: DaemonFixture, on disk: FaultyDisk
    ) async throws -> DiskRecord {
        let settings = ["etc/pipelined.conf": "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n", "state/id": "cut\n"]
        for (path, text) in settings.merging(crash.files, uniquingKeysWith: { $1 }) { try daemon.write(text, to: path) }
        try await daemon.start()
        try await crash.before?(daemon)
        await daemon.stop()
        for (path, data) in crash.dropped { try daemon.drop(data, as: path, inbox: crash.inbox) }
        let (first, inodes) = try DiskImage.read(disk.store)
        let file = daemon.root.path + ".record"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try disk.record(to: file)
        try await daemon.start()
        if let command = crash.command {
            try await command(daemon)
            try disk.mark(acknowledged)
        }
        try await daemon.waitForAll()
        await daemon.stop()
        return try DiskRecord(file, first: first, inodes: inodes)
    }

    private static let acknowledged = "acknowledged"

    /// Returns the same trial, except that the result is renamed before the commit that should precede the rename.
    func withRenameBeforeIntent() throws -> PowerCutTrial {
        let rename = try #require(
            record.changes.firstIndex { $0.text?.hasPrefix("rename 1 /outbox/noir/.staging/") ?? false })
        let commits = record.syncs.filter { $0.index < rename && $0.path.hasSuffix("-wal") }
        let (before, log) = (try #require(commits.dropLast().last).index, try #require(commits.last).node)
        let intent = try #require(
            record.changes.indices.first {
                if case .bytes(log, _, _) = record.changes[$0] { $0 > before } else { false }
            })
        var trial = self
        trial.record.move(rename, before: intent)
        return trial
    }

    /// Returns a selection of the states in which a power cut may leave the disk, without duplicates.
    func states(seed: UInt64 = 1, draws: Int = 20) -> [State] {
        var random = SeededNumbers(seed: seed)
        return states { $0.choices(draws: draws, random: &random) }
    }

    /// Returns at most `most` states that are possible only if this sync does nothing. First come the states that lack
    /// only changes of this sync.
    func states(withoutSync index: Int, besides usual: Set<Int>, most: Int) -> [State] {
        var known = usual
        var states: [State] = []
        func add(_ more: [State]) {
            for state in more where states.count < most && known.insert(state.hash).inserted { states.append(state) }
        }
        // Harm comes from later actions that rely on the sync, so the latest states come first.
        add(self.states(leavingOut: index) { $0.choicesOwed() }.reversed())
        guard states.count < most else { return states }
        var random = SeededNumbers(seed: 1)
        add(self.states(leavingOut: index) { $0.choices(draws: 5, random: &random) }.shuffled(using: &random))
        return states
    }

    private func states(leavingOut left: Int? = nil, _ choices: (PowerCut) -> [PowerCut.Choice]) -> [State] {
        var cut = PowerCut(record)
        var isAcknowledged = false
        var states: [State] = []
        var known: [Int: Int] = [:]
        func look(_ moment: String) {
            for choice in choices(cut) {
                let hash = cut.image(choice).hash
                if let index = known[hash] {
                    // Cuts before and after the acknowledgement can leave the same state. In that case, the command's
                    // effect must last.
                    states[index].isAcknowledged = states[index].isAcknowledged || isAcknowledged
                } else {
                    known[hash] = states.count
                    states.append(
                        State(cut: cut, choice: choice, isAcknowledged: isAcknowledged, moment: moment, hash: hash))
                }
            }
        }
        for (index, change) in record.changes.enumerated() {
            switch change {
            case .sync(let node, let path):
                look("before sync \(index) of \(path)")
                if index == left { cut.leaveOutSync(of: node) } else { cut.apply(change) }
            case .mark(let text):
                look("before \(text)")
                isAcknowledged = isAcknowledged || text == Self.acknowledged
            default: cut.apply(change)
            }
        }
        look("at the end")
        return states
    }

    /// Returns the first of these states from which the daemon does not recover to an allowed result, or nil if it
    /// recovers from all.
    func harm(in states: some Sequence<State>) async throws -> State? {
        for state in states where try await !survives(state) { return state }
        return nil
    }

    private func survives(_ state: State) async throws -> Bool {
        do { return allows(try await accounts(on: state.image), in: state) } catch is Missing { return false }
    }

    /// Whether these accounts are allowed. If the command was acknowledged, its effect is required. Otherwise, the
    /// accounts may have its effect or not.
    func allows(_ accounts: Accounts, in state: State) -> Bool {
        accounts == after || (!state.isAcknowledged && accounts == before)
    }

    /// Starts a daemon on this disk; returns the accounts once it has nothing left to do.
    func accounts(on image: DiskImage) async throws -> Accounts {
        try daemon.becomes(image)
        try await daemon.start()
        try await crash.afterwards?(daemon)
        let obstacle = try await obstacle()
        await daemon.stop()
        if let obstacle { throw Missing("it waits for a person: \(obstacle)") }
        guard !daemon.exists("state/ledger-lost.txt") else { throw Missing("the ledger counts as lost") }
        return try await Accounts(daemon)
    }

    /// Waits until the daemon has nothing left to do. If another file occupies the place of an original, only a person
    /// can help. In that case, the method returns the reason why the original waits.
    private func obstacle() async throws -> String? {
        let client = try daemon.client()
        return try await daemon.elsewhere {
            var obstacle: String?
            try client.stream(Call.Wait(ids: [])) { reply in
                obstacle = reply.waitsFor.flatMap { $0.contains("its original stays") ? $0 : nil }
                return obstacle == nil
            }
            return obstacle
        }
    }
}

extension DaemonFixture {
    /// Replaces the contents of the root by this image.
    func becomes(_ image: DiskImage) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: root.path) {
            try FileManager.default.removeItem(atPath: path(name))
        }
        try image.write(to: root.path)
    }
}
