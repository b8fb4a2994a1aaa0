import DaemonRuntime
package import JobModel
import PipelineModel

/// A resource that several jobs share and may have to wait for.
package enum Resource: Hashable, Sendable, Comparable, CustomStringConvertible {
    case place(String)
    case filter(String)
    /// The encoder of this format.
    case encoder(String)
    /// The download folder, at this path.
    case spool(String)

    /// Whether render workers provide the resource.
    package var isOfWorkers: Bool {
        switch self {
        case .filter, .encoder: true
        case .place, .spool: false
        }
    }
    package var filter: String? { if case .filter(let name) = self { name } else { nil } }

    package var description: String {
        switch self {
        case .place(let path), .spool(let path): path
        case .filter(let name): "the filter '\(name)'"
        case .encoder(let format): "the encoder of \(format)"
        }
    }
}

extension WorkOrder {
    /// Whether every job of the order needs the resource.
    package func needs(_ resource: Resource) -> Bool {
        switch resource {
        case .place(let path): path == inbox || path == outbox
        case .filter(let name): outputs.uses(filter: name)
        case .encoder(let format): outputs.contains { $0.chain.stages.contains { $0.format == format } }
        case .spool: false
        }
    }
}

extension JobRecord {
    package func needs(_ resource: Resource) -> Bool {
        if case .spool = resource { needsDownload } else { order.needs(resource) }
    }
}

extension [RecipeOutput] {
    package func uses(filter name: String) -> Bool { contains { $0.chain.stages.contains { $0.name == name } } }
}

extension Ledger {
    /// The SQL condition for jobs that need the resource, and the value of its parameter ?3.
    static func needing(_ resource: Resource) -> (sql: String, value: Database.Value) {
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
        case .encoder(let format):
            (
                """
                work IN (SELECT orders.id FROM orders, json_each(body, '$.outputs') AS output,
                    json_each(output.value, '$.chain.stages') AS stage
                    WHERE json_extract(stage.value, '$.name') = 'save'
                        AND json_extract(stage.value, '$.arguments.format') = ?3)
                """, .text(format)
            )
        case .spool(let path): ("?3 IS NOT NULL AND \(FirstQueue.download.condition)", .text(path))
        }
    }

    /// Makes all queued jobs that need the resource wait, except the jobs in `except`. Passes their number to `done`.
    package nonisolated func setAside(
        _ resource: Resource, reason: String, except: [Int], done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            refused: 0,
            { ledger in
                let needing = Self.needing(resource)
                let which = "state = 'queued' AND id NOT IN (SELECT value FROM json_each(?4)) AND \(needing.sql)"
                let values = [.real(Timestamp.now()), .text(reason), needing.value, Database.Value.list(except)]
                try ledger.add(.waiting, text: "?2", where: which, values)
                try ledger.writer.run(
                    "UPDATE jobs SET state = 'waiting', hold = 'place', reason = ?2 WHERE \(which)", values)
                return ledger.writer.changes
            }, done: done)
    }

    /// Queues the jobs that wait for the resource, except the jobs in `except`, at the end of the queue, from
    /// `position` on. Passes their number to `done`.
    package nonisolated func bringBack(
        _ resource: Resource, except: [Int], at position: Int, done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            refused: 0,
            { ledger in
                let needing = Self.needing(resource)
                return try ledger.bringBack(
                    "hold = 'place' AND id NOT IN (SELECT value FROM json_each(?4)) AND \(needing.sql)",
                    [needing.value, .list(except)], at: position)
            }, done: done)
    }

    /// Queues the retries that are due, at the end of the queue, from `position` on. Passes their number and the time
    /// of the next retry to `done`. If the clock was set back, `setBack` is subtracted from all due times. No retry
    /// waits longer than `most` from now. All times are in seconds.
    package nonisolated func bringBackDue(
        at position: Int, setBack: Double = 0, most: Double, now: Double = Timestamp.now(),
        done: @escaping @Sendable (_ count: Int, _ next: Double?) -> Void
    ) {
        write(refused: (count: 0, next: Double?.none)) { ledger in
            if setBack > 0 {
                try ledger.writer.run("UPDATE jobs SET due = due - ? WHERE due IS NOT NULL", [.real(setBack)])
            }
            try ledger.writer.run(
                "UPDATE jobs SET due = ?1 WHERE due IS NOT NULL AND due > ?1", [.real(now + most)])
            let count = try ledger.bringBack("hold = 'retry' AND due <= ?3", [.real(now)], at: position)
            let next = try ledger.writer.first("SELECT MIN(due) FROM jobs WHERE due IS NOT NULL") { $0.optionalReal(0) }
            return (count, next ?? nil)
        } done: {
            done($0.count, $0.next)
        }
    }

    /// Queues jobs that wait for a retry, without waiting until the retry is due. Appends them to the queue, from
    /// `position` on. Selects the jobs with an ID up to `last` that are in `ids` and in `batch`, if these are given.
    /// Passes their IDs to `done`.
    package nonisolated func bringBackEarly(
        _ ids: [Int]?, of batch: Int? = nil, upTo last: Int, at position: Int, done: @escaping @Sendable ([Int]) -> Void
    ) {
        write(
            isAsked: true, refused: [],
            { ledger in
                let which = """
                    hold = 'retry' AND id <= ?3 AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4)))
                        AND (?5 IS NULL OR batch = ?5)
                    """
                let values: [Database.Value] = [
                    .integer(last), ids.map(Database.Value.list) ?? .null, .optional(batch),
                ]
                let brought = try ledger.writer.rows(
                    "SELECT id FROM jobs WHERE state = 'waiting' AND \(which) ORDER BY id", [.null, .null] + values
                ) { $0.integer(0) }
                _ = try ledger.bringBack(which, values, at: position)
                return brought
            }, done: done)
    }

    /// Queues the waiting jobs that match `which`, from `position` on. `values` are the parameters from ?3 on.
    private func bringBack(_ which: String, _ values: [Database.Value], at position: Int) throws -> Int {
        let values = [.real(Timestamp.now()), .integer(position)] + values
        try add(.queued, where: "state = 'waiting' AND \(which)", values)
        try writer.run(
            """
            UPDATE jobs SET state = 'queued', hold = NULL, due = NULL, reason = NULL, position = ?2 + row.number FROM
                (SELECT id, ROW_NUMBER() OVER (ORDER BY position) - 1 AS number FROM jobs
                    WHERE state = 'waiting' AND \(which)) AS row
            WHERE row.id = jobs.id
            """, values)
        return writer.changes
    }

    /// A reason for waiting, the number of jobs that share it, and the earliest retry among them.
    package struct Waiting: Sendable {
        package var waitReason: JobRecord.WaitReason?
        /// The obstacle that these jobs have in common, such as the error before a retry.
        package var reason: String?
        package var count: Int
        package var due: Double?
    }

    /// Maximum number of reasons in an answer. The jobs with any other reason are counted together.
    private static let mostReasons = 20

    /// The reasons for waiting, most frequent first.
    package nonisolated func waiting(_ who: JobGroup = .all) throws -> [Waiting] {
        let (index, condition, values) = who.selection
        let rows = "FROM jobs \(index) WHERE state = 'waiting' AND \(condition)"
        return try read { database in
            let waiting = try database.rows(
                """
                SELECT hold, obstacle, COUNT(*) AS count, MIN(due) \(rows)
                GROUP BY hold, obstacle ORDER BY count DESC LIMIT \(Self.mostReasons)
                """, values
            ) { row in
                Waiting(
                    waitReason: row.optionalText(0).flatMap(JobRecord.WaitReason.init), reason: row.optionalText(1),
                    count: row.integer(2), due: row.optionalReal(3))
            }
            guard waiting.count == Self.mostReasons else { return waiting }
            let all = try database.first("SELECT COUNT(*) \(rows)", values) { $0.integer(0) } ?? 0
            let rest = all - waiting.reduce(0) { $0 + $1.count }
            return rest > 0 ? waiting + [Waiting(reason: "other reasons", count: rest)] : waiting
        }
    }

    /// Number of these jobs that are queued and start in this queue.
    package nonisolated func queued(_ who: JobGroup, _ entry: FirstQueue) throws -> Int {
        if case .all = who { return try queuedCount(entry) }
        let (_, condition, values) = who.selection
        return try first(
            "SELECT COUNT(*) FROM jobs WHERE state = 'queued' AND \(entry.condition) AND \(condition)", values
        ) { $0.integer(0) } ?? 0
    }
}

extension JobGroup {
    fileprivate var selection: (index: String, condition: String, values: [Database.Value]) {
        switch self {
        case .all: ("INDEXED BY jobs_waiting", "1", [])
        case .batch(let batch): ("INDEXED BY jobs_waiting", "batch = ?", [.integer(batch)])
        case .these(let ids): ("", "id IN (SELECT value FROM json_each(?))", [.list(ids)])
        }
    }
}
