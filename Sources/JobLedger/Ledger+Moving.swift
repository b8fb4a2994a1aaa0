import JobModel

/// Adapts the absolute paths in all rows after a folder has moved.
extension Ledger {
    /// Replaces the folder `old` by `new` in all paths below it. Blocks until the change is durable; returns false if
    /// SQLite refuses it.
    package nonisolated func move(from old: String, to new: String) -> Bool {
        wait(refused: false) { ledger in
            for (table, column) in [("jobs", "source"), ("jobs", "returns"), ("jobs", "goal"), ("kept", "path")] {
                try ledger.writer.run(
                    """
                    UPDATE \(table) SET \(column) = ?2 || substr(\(column), length(?1) + 1)
                    WHERE substr(\(column), 1, length(?1) + 1) = ?1 || '/'
                    """, [.text(old), .text(new)])
            }
            // In JSON, an absolute path starts right after a quotation mark, so the search text starts with that mark.
            let (from, to) = ("\(try JSONText.encode(old).dropLast())/", "\(try JSONText.encode(new).dropLast())/")
            for (table, column) in [("jobs", "intent"), ("jobs", "outputs"), ("jobs", "staged"), ("orders", "body")] {
                try ledger.writer.run(
                    """
                    UPDATE OR IGNORE \(table) SET \(column) = replace(\(column), ?1, ?2) WHERE instr(\(column), ?1) > 0
                    """, [.text(from), .text(to)])
            }
            ledger.orderRows = [:]
            return true
        }
    }
}
