import JobModel

/// Updates the absolute paths in all rows after a folder has moved.
extension Ledger {
    /// Replaces the folder `old` with `new` in all paths below `old`. Blocks until the change is durable; returns false
    /// if SQLite refuses it.
    package nonisolated func move(from old: String, to new: String) -> Bool {
        wait(refused: false) { ledger in
            let paths: [(SQL, SQL)] = [("jobs", "source"), ("jobs", "returns"), ("jobs", "goal"), ("kept", "path")]
            for (table, column) in paths {
                try ledger.writer.run(
                    """
                    UPDATE \(table) SET \(column) = \(new) || substr(\(column), length(\(old)) + 1)
                    WHERE substr(\(column), 1, length(\(old)) + 1) = \(old) || '/'
                    """)
            }
            // In JSON, an absolute path follows a quotation mark, so the search text starts with a quotation mark.
            let (from, to) = ("\(try JSONText.encode(old).dropLast())/", "\(try JSONText.encode(new).dropLast())/")
            let texts: [(SQL, SQL)] = [("jobs", "intent"), ("jobs", "outputs"), ("jobs", "staged"), ("orders", "body")]
            for (table, column) in texts {
                try ledger.writer.run(
                    """
                    UPDATE OR IGNORE \(table) SET \(column) = replace(\(column), \(from), \(to))
                    WHERE instr(\(column), \(from)) > 0
                    """)
            }
            ledger.orderRows = [:]
            return true
        }
    }
}
