import Foundation
import TestTools
import Testing

/// The places of all pictures after a crash, on disk and in the ledger.
struct Accounts: Equatable, CustomStringConvertible {
    /// Every file in the daemon's folders, with its bytes. For explanations (`.error.txt`), only the path counts.
    var files: [String: Data] = [:]
    /// Folders of unfinished jobs that are left in `.pipelined/` and in `.staging/`.
    var remains: [String] = []
    /// Each job with its picture, its state, whether its original was disposed of, and the paths of its original and
    /// results.
    var jobs: [String] = []

    init() {}

    init(_ daemon: DaemonFixture, inboxes: [String] = ["inbox"]) async throws {
        for place in inboxes + ["outbox", "archive", "failed", "cancelled", "state/spool"] {
            for file in daemon.files(in: place) {
                let path = "\(place)/\(file)"
                files[path] = path.hasSuffix(".error.txt") ? Data() : try daemon.data(path)
            }
            remains += Self.remains(in: daemon.path(place))
        }
        let ledger = try await Python.run(Self.read, daemon.path("state/ledger.sqlite"), daemon.root.path)
        guard ledger.status == 0 else { throw Missing(ledger.errors) }
        jobs = ledger.lines
    }

    private static func remains(in folder: String) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: folder) else { return [] }
        return walk.compactMap { $0 as? String }.filter { path in
            let parts = path.split(separator: "/")
            let above = parts.dropLast()
            // The first level below `.pipelined` and `.staging` is this root's own folder, which may stay.
            return above.dropLast().contains { $0 == ".pipelined" || $0 == ".staging" }
        }
    }

    /// Reads the jobs, after SQLite has verified the ledger. Fails if a result is not at its recorded path.
    private static let read = """
        import json, os, sqlite3, sys
        ledger = sqlite3.connect(sys.argv[1])
        assert ledger.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        root = sys.argv[2] + "/"
        for path, state, disposed, source, outputs, intent in ledger.execute(
            "SELECT path, state, disposed, source, outputs, intent FROM jobs ORDER BY path, id"):
            results = [r["path"] if isinstance(r, dict) else r for r in json.loads(outputs or "[]")]
            for result in results: assert os.path.exists(result), result
            there = source.replace(root, "") if os.path.exists(source) else "gone"
            print(path, state, disposed, there, *[r.replace(root, "") for r in results], intent or "")
        """

    var description: String {
        (files.keys.sorted() + remains.map { "remains: " + $0 } + jobs).joined(separator: "\n")
    }
}
