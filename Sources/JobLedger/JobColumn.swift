import JobModel
import PipelineModel
import SystemCalls

/// A column of a job's row, by its index in the SELECT list.
enum JobColumn: Int32, CaseIterable {
    case id, position, batch, order, path, origin, source, device, inode, size, modified, state, reason, error, advice
    case intent, outputs, story, tries, disposed, created, started, finished, url, host, partial, priority, hold, due
    case setbacks, crashes, failure, segment, staged, anyway, returns, removed, former, goal

    private var sql: String {
        switch self {
        case .order: "o.body"
        case .reason: "CASE j.hold WHEN 'after' THEN \(Ledger.needsText) ELSE j.reason END"
        case .former: "(SELECT body FROM orders WHERE id = j.former)"
        default: "j.\(self)"
        }
    }

    static let list = allCases.map(\.sql).joined(separator: ", ")
}

extension Database.Row {
    func integer(_ column: JobColumn) -> Int { integer(column.rawValue) }
    func optionalInteger(_ column: JobColumn) -> Int? { optionalInteger(column.rawValue) }
    func flag(_ column: JobColumn) -> Bool { integer(column.rawValue) != 0 }
    func real(_ column: JobColumn) -> Double { real(column.rawValue) }
    func optionalReal(_ column: JobColumn) -> Double? { optionalReal(column.rawValue) }
    func text(_ column: JobColumn) -> String { text(column.rawValue) }
    func optionalText(_ column: JobColumn) -> String? { optionalText(column.rawValue) }

    func word<Word: RawRepresentable<String>>(_ column: JobColumn) -> Word? {
        optionalText(column.rawValue).flatMap(Word.init)
    }

    func json<Value: Decodable>(_ column: JobColumn) throws -> Value? {
        try optionalText(column.rawValue).map { text in try read(column) { try JSONText.decode(Value.self, text) } }
    }

    func read<Value>(_ column: JobColumn, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            let id = integer(.id)
            throw LedgerError(
                attempted: "read job \(id)",
                message:
                    "the row of job \(id) is damaged in '\(column)'; go back to a backup, or stop the daemon and take the row "
                    + "away: sqlite3 state/ledger.sqlite 'DELETE FROM jobs WHERE id = \(id)'")
        }
    }
}

extension JobRecord {
    init(_ row: Database.Row, _ orders: inout OrderCache) throws {
        self.init(
            id: row.integer(.id), position: row.integer(.position), batch: row.optionalInteger(.batch),
            order: try row.read(.order) { try orders.order(row.text(.order)) }, path: row.text(.path),
            origin: row.word(.origin) ?? .claimed, source: row.text(.source),
            file: FileStatus.Identity(
                device: row.integer(.device), inode: row.integer(.inode), size: row.integer(.size),
                modified: row.integer(.modified)),
            state: row.word(.state) ?? .failed, reason: row.optionalText(.reason), error: row.optionalText(.error),
            advice: row.optionalText(.advice), intent: try row.json(.intent), outputs: try row.json(.outputs) ?? [],
            story: try row.json(.story), tries: row.integer(.tries), disposed: row.flag(.disposed),
            created: row.real(.created), started: row.optionalReal(.started), finished: row.optionalReal(.finished),
            url: row.optionalText(.url), host: row.optionalText(.host), partial: try row.json(.partial),
            priority: row.integer(.priority), waitReason: row.word(.hold), due: row.optionalReal(.due),
            setbacks: row.integer(.setbacks), crashes: row.integer(.crashes), failure: row.word(.failure),
            segment: row.integer(.segment), staged: try row.json(.staged) ?? [], anyway: row.flag(.anyway),
            returns: row.optionalText(.returns), removed: try row.json(.removed),
            former: try row.optionalText(.former).map { body in try row.read(.former) { try orders.order(body) } },
            goal: row.optionalText(.goal))
    }
}

/// Decodes each distinct work order once.
struct OrderCache {
    private var orders: [String: WorkOrder] = [:]

    mutating func order(_ body: String) throws -> WorkOrder {
        if let order = orders[body] { return order }
        let order = try JSONText.decode(WorkOrder.self, body)
        orders[body] = order
        return order
    }
}
