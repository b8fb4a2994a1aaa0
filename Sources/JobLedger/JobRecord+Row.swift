import JobModel
import PipelineModel
import SystemCalls

extension JobRecord {
    /// The columns of `jobs j` and `orders o`, in the order in which `init` reads them.
    static let columns: SQL = """
        j.id, j.position, j.batch, o.body AS "order", j.path, j.origin, j.source, j.device, j.inode, j.size, j.modified,
        j.state, CASE j.hold WHEN 'after' THEN \(Ledger.needsText) ELSE j.reason END AS reason, j.error, j.advice,
        j.intent, j.outputs, j.story, j.tries, j.disposed, j.created, j.started, j.finished, j.url, j.host, j.partial,
        j.priority, j.hold, j.due, j.setbacks, j.crashes, j.failure, j.segment, j.staged, j.anyway, j.returns, j.removed,
        (SELECT body FROM orders WHERE id = j.former) AS former, j.goal, j.texts, j.owner
        """

    init(_ row: Database.Row, _ orders: inout OrderCache) throws {
        try self.init(
            id: row["id"], position: row["position"], batch: row["batch"],
            order: row.read("order") { try orders.order(row["order"]) }, path: row["path"],
            origin: row["origin"] ?? .claimed, source: row["source"],
            file: FileStatus.Identity(
                device: row["device"], inode: row["inode"], size: row["size"], modified: row["modified"]),
            state: row["state"] ?? .failed, reason: row["reason"], error: row["error"], advice: row["advice"],
            intent: row.json("intent"), outputs: row.json("outputs") ?? [], story: row.json("story"),
            tries: row["tries"], disposed: row["disposed"], created: row["created"], started: row["started"],
            finished: row["finished"], url: row["url"], host: row["host"], partial: row.json("partial"),
            priority: row["priority"], waitReason: row["hold"], due: row["due"], setbacks: row["setbacks"],
            crashes: row["crashes"], failure: row["failure"], segment: row["segment"],
            staged: row.json("staged") ?? [], anyway: row["anyway"], returns: row["returns"],
            removed: row.json("removed"),
            former: row.read("former") { try (row["former"] as String?).map { try orders.order($0) } },
            goal: row["goal"], texts: row.json("texts"), owner: row["owner"])
    }
}

extension Database.Row {
    fileprivate func json<Value: Decodable>(_ column: String) throws -> Value? {
        try read(column) { try (self[column] as String?).map { try JSONText.decode(Value.self, $0) } }
    }

    fileprivate func read<Value>(_ column: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            let id: Int = try self["id"]
            throw LedgerError(
                attempted: "read job \(id)",
                message:
                    "the row of job \(id) is damaged in '\(column)'; go back to a backup, or stop the daemon and take the row "
                    + "away: sqlite3 state/ledger.sqlite 'DELETE FROM jobs WHERE id = \(id)'")
        }
    }
}

extension JobEnd {
    init(_ row: Database.Row) throws { try self.init(id: row["id"], state: row["state"]) }
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
