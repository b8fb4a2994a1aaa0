import TestTools

extension DaemonFixture {
    /// What a stopped daemon's ledger answers, a column of texts.
    func list(inLedger statements: String) throws -> [String] {
        let edit = """
            import sqlite3, sys
            d = sqlite3.connect(sys.argv[1])
            for s in sys.argv[2].split(";"):
                for row in d.execute(s): print(row[0])
            d.commit()
            """
        let child = try ChildProcess("/usr/bin/env", ["python3", "-c", edit, path("state/ledger.sqlite"), statements])
        return child.wait().output.split(separator: "\n").map(String.init)
    }
}
