import Foundation
import PipelineControl
import TestTools
import Testing

/// Damage to a file of the ledger, as a bad disk causes it.
private struct LedgerDamage: CustomStringConvertible {
    enum Kind: CaseIterable { case bitFlipped, pageOfZeros, cutOff }

    let kind: Kind
    let file: String
    let place: Int

    var description: String { "\(kind) at \(place) of \(file)" }

    static func any(of image: DiskImage, using random: inout SeededNumbers) -> LedgerDamage {
        let files = ["/state/ledger.sqlite", "/state/ledger.sqlite-wal"].filter { !bytes($0, image).isEmpty }
        let file = files.randomElement(using: &random) ?? ""
        return LedgerDamage(
            kind: Kind.allCases.randomElement(using: &random) ?? .bitFlipped, file: file,
            place: Int.random(in: 0..<max(1, bytes(file, image).count), using: &random))
    }

    private static func bytes(_ file: String, _ image: DiskImage) -> [UInt8] {
        image.node(at: file).flatMap { image.nodes[$0]?.content.bytes } ?? []
    }

    func happened(to image: DiskImage) -> DiskImage {
        var (image, bytes) = (image, Self.bytes(file, image))
        switch kind {
        case .bitFlipped: bytes[place] ^= 1 << (place % 8)
        case .pageOfZeros:
            let page = place / 4096 * 4096
            let end = min(bytes.count, page + 4096)
            bytes.replaceSubrange(page..<end, with: [UInt8](repeating: 0, count: end - page))
        case .cutOff: bytes.removeLast(bytes.count - place)
        }
        if let node = image.node(at: file) { image.nodes[node]?.content = DiskImage.Content(bytes) }
        return image
    }
}

@Suite("A ledger with a damaged spot", .enabled(if: Mount.isPermitted, "only root may mount a file system"))
struct LedgerDamageTests {
    private static let pictures = (1...4).map { Picture.png(width: 16 + $0, height: 16) }

    @Test(
        "a start never discards the ledger silently, and no original or result is lost",
        arguments: [false, true], 1...Sweep.of(1, all: 4))
    func damaged(isWrittenBack: Bool, part: Int) async throws {
        let settings = "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n"
        try await DaemonFixture.with(started: false) { daemon in
            try await Mount.with(daemon.root.path, size: "256m") { _ in
                try daemon.write(settings, to: "etc/pipelined.conf")
                let whole = try await Self.disk(of: daemon, isWrittenBack: isWrittenBack)
                var random = SeededNumbers(seed: UInt64(part))
                var (unnoticed, lost, refused) = (0, 0, 0)
                for _ in 0..<Sweep.of(8, all: 25) {
                    let damage = LedgerDamage.any(of: whole, using: &random)
                    try daemon.becomes(damage.happened(to: whole))
                    switch try await Self.start(of: daemon, after: damage) {
                    case .unnoticed: unnoticed += 1
                    case .lost: lost += 1
                    case .refused: refused += 1
                    }
                }
                print("\(unnoticed) did no harm, \(lost) were told as a loss, \(refused) starts were refused")
            }
        }
    }

    /// Leaves a done, a failed, a claimed and an added picture behind, and kills the daemon; returns the disk.
    private static func disk(of daemon: DaemonFixture, isWrittenBack: Bool) async throws -> DiskImage {
        try await daemon.start()
        try daemon.drop(pictures[0], as: "done.png")
        try daemon.drop(pictures[1].prefix(50), as: "failed.png")
        try await daemon.waitForAll()
        _ = try daemon.call(Call.Pause(queue: "render"))
        try daemon.drop(pictures[2], as: "claimed.png")
        try await daemon.job("claimed.png", becomes: "queued")
        try daemon.write(pictures[3], to: "mine/added.png")
        #expect(try await daemon.pipectl("add", daemon.path("mine/added.png")).status == 0)
        try FileManager.default.removeItem(atPath: daemon.path("mine"))
        await daemon.stop(SIGKILL)
        if isWrittenBack { try await daemon.ledger("PRAGMA wal_checkpoint(TRUNCATE)") }
        return try DiskImage.read(daemon.root.path).image
    }

    private enum Outcome { case unnoticed, lost, refused }

    private static func start(of daemon: DaemonFixture, after damage: LedgerDamage) async throws -> Outcome {
        do {
            try await daemon.start()
        } catch {
            #expect(daemon.log.contains("ledger"), "\(damage): \(daemon.log)")
            check(daemon, damage)
            return .refused
        }
        // The daemon notices and reports an unreadable row only when a client requests that row.
        let jobs = try? daemon.list()
        let isTold = try daemon.exists("state/ledger-lost.txt") || !daemon.status().problems.isEmpty
        #expect(isTold || jobs?.isEmpty == false, "\(damage): all jobs are forgotten in silence")
        await daemon.stop()
        check(daemon, damage)
        return isTold ? .lost : .unnoticed
    }

    private static func check(_ daemon: DaemonFixture, _ damage: LedgerDamage) {
        let folders = ["inbox", "archive", "failed", "cancelled", "recovered", "state/spool", "outbox"]
        let files = folders.flatMap { folder in daemon.files(in: folder).map { "\(folder)/\($0)" } }
        let there = Set(files.compactMap { try? daemon.data($0) })
        let originals = [pictures[0], Data(pictures[1].prefix(50)), pictures[2]]
        for (number, original) in originals.enumerated() {
            #expect(there.contains(original), "\(damage): original \(number) is lost; there are \(files)")
        }
        #expect(
            there.contains(pictures[3]) || files.contains { $0.hasSuffix("/added.jpg") },
            "\(damage): the added picture is lost; there are \(files)")
        #expect(daemon.exists("outbox/noir/done.jpg"), "\(damage): a result is lost; there are \(files)")
    }
}
