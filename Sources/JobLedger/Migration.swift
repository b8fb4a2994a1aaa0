/// A step from one version of the ledger's tables to the next. A released step never changes.
struct Migration {
    let name: String
    let sql: SQL

    init(name: String, _ sql: SQL) { (self.name, self.sql) = (name, sql) }

    /// Migrates the file from version `number - 1` to version `number`.
    func run(_ number: Int, on database: Database) throws {
        do {
            try database.script("BEGIN; \(sql); PRAGMA user_version=\(literal: number); COMMIT;")
        } catch let error as LedgerError {
            throw LedgerError(
                attempted: nil, message: "the ledger can't be migrated: step \(number), '\(name)': \(error.message)",
                code: error.code)
        }
    }
}
