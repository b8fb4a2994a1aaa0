import Foundation
import TestTools
import Testing

/// The ledger of the first version, whose daemon was killed while jobs were running:
/// Tests/JobLedgerTests/Fixture/ledger-1.sqlite. Every later version must be able to open it.
enum FirstLedger {
    /// The recipes that the ledger's jobs use.
    static let recipes = [
        "etc/recipes.d/slow.recipe": "[Recipe]\nInbox=slow\n[Output]\nChain=save format=avif\n",
        "etc/recipes.d/crash.recipe": "[Recipe]\nInbox=crash\n[Output]\nChain=save\n",
        "etc/recipes.d/full.recipe": "[Recipe]\nInbox=full\nOutbox=full\n[Output]\nChain=save\n",
        "etc/recipes.d/kept.recipe":
            "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=resize width=8 | save format=png\n"
            + "[Output thumb]\nChain=resize width=4 | noir | save\n",
    ]

    /// Puts the ledger below the daemon's root, as if the first version had written it there, and creates an original
    /// for each unfinished job.
    static func place(in daemon: DaemonFixture) async throws {
        let file = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../JobLedgerTests/Fixture/ledger-1.sqlite").standardized
        try daemon.write(try Data(contentsOf: file), to: "state/ledger.sqlite")
        try daemon.write(Picture.small, to: "original.png")
        let moved = try await Python.run(move, daemon.root.path)
        try #require(moved.status == 0, "\(moved.errors)")
    }

    private static let move = """
        import os, shutil, sqlite3, sys
        root = sys.argv[1]
        ledger = sqlite3.connect(root + "/state/ledger.sqlite")
        assert ledger.execute("PRAGMA user_version").fetchone() == (1,)
        for table, column in [("jobs", "source"), ("jobs", "outputs"), ("jobs", "reason"), ("jobs", "intent"), ("orders", "body")]:
            ledger.execute(f"UPDATE {table} SET {column} = replace({column}, '/tmp/pipelined-ledger-1', ?)", (root,))
        left = "SELECT id, source FROM jobs WHERE state NOT IN ('done', 'failed', 'cancelled')"
        for id, source in ledger.execute(left).fetchall():
            os.makedirs(os.path.dirname(source), exist_ok=True)
            shutil.copy(root + "/original.png", source)
            s = os.stat(source)
            ledger.execute("UPDATE jobs SET device = ?, inode = ?, size = ?, modified = ? WHERE id = ?",
                (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, id))
        ledger.commit()
        """
}
