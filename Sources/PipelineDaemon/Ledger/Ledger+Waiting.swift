import DaemonRuntime
import PipelineModel

/// What the work of several jobs needs, and may have to wait for.
enum Resource: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// An inbox or outbox.
    case place(String)
    /// By its name.
    case filter(String)
    /// The folder that is downloaded into.
    case spool(String)

    var isFilter: Bool { filter != nil }
    var filter: String? { if case .filter(let name) = self { name } else { nil } }

    var description: String {
        switch self {
        case .place(let path), .spool(let path): path
        case .filter(let name): "the filter '\(name)'"
        }
    }
}

extension WorkOrder {
    /// All jobs of it do.
    func needs(_ resource: Resource) -> Bool {
        switch resource {
        case .place(let path): path == inbox || path == outbox
        case .filter(let name): outputs.uses(filter: name)
        case .spool: false
        }
    }
}

extension JobRecord {
    func needs(_ resource: Resource) -> Bool {
        if case .spool = resource { needsDownload } else { order.needs(resource) }
    }
}

extension [RecipeOutput] {
    func uses(filter name: String) -> Bool { contains { $0.chain.stages.contains { $0.name == name } } }
}

/// Rows that wait, and that go on.
extension Ledger {
    /// The jobs that need the resource, which is the third value.
    private static func needing(_ resource: Resource) -> (sql: String, value: Database.Value) {
        switch resource {
        case .place(let path):
            (
                """
                work IN (
                    SELECT id FROM orders WHERE ?3 IN (json_extract(body, '$.outbox'), json_extract(body, '$.inbox')))
                """, .text(path)
            )
        case .filter(let name):
            (
                """
                work IN (SELECT orders.id FROM orders, json_each(body, '$.outputs') AS output,
                    json_each(output.value, '$.chain.stages') AS stage
                    WHERE json_extract(stage.value, '$.name') = ?3)
                """, .text(name)
            )
        case .spool(let path): ("?3 IS NOT NULL AND url IS NOT NULL AND inode = 0", .text(path))
        }
    }

    /// Queued jobs that need the resource wait, but for `except`; hands over how many there were.
    func setAside(
        _ resource: Resource, reason: String, except: [Int], done: @escaping @Sendable (Int) -> Void
    ) {
        let count = Handed(0)
        write(
            wanted: .now,
            { database, _ in
                let needing = Self.needing(resource)
                let which = """
                    state = 'queued' AND id NOT IN (SELECT value FROM json_each(?4)) AND \(needing.sql)
                    """
                let values: [Database.Value] = [
                    .real(Timestamp.now()), .text(reason), needing.value, .text(try JSONText.encode(except)),
                ]
                try database.run(
                    """
                    INSERT INTO events (time, kind, job, state, text) SELECT ?1, 'job', id, 'waiting', ?2 FROM jobs
                    WHERE \(which) ORDER BY position
                    """, values)
                try database.run(
                    "UPDATE jobs SET state = 'waiting', hold = 'place', reason = ?2 WHERE \(which)", values)
                count.value = database.changes
            }, done: { done(count.value) })
    }

    /// What waits for the resource, but for `except`, goes to the end of the queue, which is at `position`; hands over how many there were.
    func bringBack(
        _ resource: Resource, except: [Int], at position: Int, done: @escaping @Sendable (Int) -> Void
    ) {
        let count = Handed(0)
        write(
            wanted: .now,
            { database, _ in
                let needing = Self.needing(resource)
                count.value = try Self.bringBack(
                    "hold = 'place' AND id NOT IN (SELECT value FROM json_each(?4)) AND \(needing.sql)",
                    [needing.value, .text(try JSONText.encode(except))], at: position, database)
            }, done: { done(count.value) })
    }

    /// Queues due retries at the end of the queue, at `position`; hands over their number, and when the next is due.
    /// Whatever the clock did, no retry waits longer than `most` from now. All times are in seconds.
    func bringBackDue(
        at position: Int, setBack: Double = 0, most: Double, now: Double = Timestamp.now(),
        done: @escaping @Sendable (_ count: Int, _ next: Double?) -> Void
    ) {
        let count = Handed(0)
        let next = Handed<Double?>(nil)
        write(
            wanted: .now,
            { database, _ in
                if setBack > 0 {
                    try database.run("UPDATE jobs SET due = due - ? WHERE due IS NOT NULL", [.real(setBack)])
                }
                try database.run(
                    "UPDATE jobs SET due = ?1 WHERE due IS NOT NULL AND due > ?1", [.real(now + most)])
                count.value = try Self.bringBack("hold = 'retry' AND due <= ?3", [.real(now)], at: position, database)
                next.value =
                    try database.first("SELECT MIN(due) FROM jobs WHERE due IS NOT NULL") { $0.optionalReal(0) } ?? nil
            }, done: { done(count.value, next.value) })
    }

    /// What waits for its next try goes to the end of the queue at once: those of these IDs, or all up to `last`.
    func bringBackEarly(
        _ ids: [Int]?, upTo last: Int, at position: Int, done: @escaping @Sendable ([Int]) -> Void
    ) {
        let brought = Handed<[Int]>([])
        write(
            wanted: .now,
            { database, _ in
                let which = "hold = 'retry' AND id <= ?3 AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4)))"
                let values: [Database.Value] = [.integer(last), .optional(try ids.map(JSONText.encode))]
                brought.value = []
                try database.rows(
                    "SELECT id FROM jobs WHERE state = 'waiting' AND \(which) ORDER BY id", [.null, .null] + values
                ) { brought.value.append($0.integer(0)) }
                _ = try Self.bringBack(which, values, at: position, database)
            }, done: { done(brought.value) })
    }

    /// `values` begin with the third.
    private static func bringBack(
        _ which: String, _ values: [Database.Value], at position: Int, _ database: Database
    ) throws -> Int {
        let values = [.integer(position), .real(Timestamp.now())] + values
        try database.run(
            """
            INSERT INTO events (time, kind, job, state) SELECT ?2, 'job', id, 'queued' FROM jobs
            WHERE state = 'waiting' AND \(which) ORDER BY position
            """, values)
        try database.run(
            """
            UPDATE jobs SET state = 'queued', hold = NULL, due = NULL, reason = NULL, position = ?1 + row.number FROM
                (SELECT id, ROW_NUMBER() OVER (ORDER BY position) - 1 AS number FROM jobs
                    WHERE state = 'waiting' AND \(which)) AS row
            WHERE row.id = jobs.id
            """, values)
        return database.changes
    }

    /// What rows wait for: how many for the same, and when the first of these is tried again.
    struct Waiting: Sendable {
        var hold: JobRecord.Hold?
        /// The obstacle of those that are tried again.
        var reason: String?
        var count: Int
        var due: Double?
    }

    /// The jobs that are asked about.
    enum Waiters: Sendable {
        case all
        case batch(Int)
        case these([Int])

        fileprivate func selection() throws -> (index: String, condition: String, values: [Database.Value]) {
            switch self {
            case .all: ("INDEXED BY jobs_waiting", "1", [])
            case .batch(let batch): ("INDEXED BY jobs_waiting", "batch = ?", [.integer(batch)])
            case .these(let ids): ("", "id IN (SELECT value FROM json_each(?))", [.text(try JSONText.encode(ids))])
            }
        }
    }

    /// Reasons in an answer; the rest are told as one.
    private static let mostReasons = 20

    /// The most frequent reasons first.
    func waiting(_ who: Waiters = .all) throws -> [Waiting] {
        let (index, condition, values) = try who.selection()
        let rows = "FROM jobs \(index) WHERE state = 'waiting' AND \(condition)"
        return try read { database in
            var waiting: [Waiting] = []
            try database.rows(
                """
                SELECT hold, obstacle, COUNT(*) AS count, MIN(due) \(rows)
                GROUP BY hold, obstacle ORDER BY count DESC LIMIT \(Self.mostReasons)
                """, values
            ) { row in
                waiting.append(
                    Waiting(
                        hold: row.optionalText(0).flatMap(JobRecord.Hold.init), reason: row.optionalText(1),
                        count: row.integer(2), due: row.optionalReal(3)))
            }
            guard waiting.count == Self.mostReasons else { return waiting }
            let all = try database.first("SELECT COUNT(*) \(rows)", values) { $0.integer(0) } ?? 0
            let rest = all - waiting.reduce(0) { $0 + $1.count }
            return rest > 0 ? waiting + [Waiting(reason: "other reasons", count: rest)] : waiting
        }
    }

    /// The number of these jobs that are queued, and begin in this queue.
    func queued(_ who: Waiters, _ entry: Entry) throws -> Int {
        if case .all = who { return try queuedCount(entry) }
        let (_, condition, values) = try who.selection()
        return try read { database in
            try database.first(
                "SELECT COUNT(*) FROM jobs j WHERE state = 'queued' AND \(entry.condition) AND \(condition)", values
            ) { $0.integer(0) }
        } ?? 0
    }
}
