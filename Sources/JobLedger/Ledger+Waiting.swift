package import JobModel
import PipelineModel
import ServiceProgram

/// A resource that several jobs share and may have to wait for.
package enum Resource: Hashable, Sendable, Comparable, CustomStringConvertible {
    case place(String)
    case filter(String)
    /// The encoder of this format.
    case encoder(String)
    /// The download folder, at this path.
    case spool(String)
    /// The hours of this recipe.
    case hours(String)

    /// Prefix of the reason of a job that waits for its recipe's hours.
    package static let outsideHours = "outside Hours="

    /// Whether render workers provide the resource.
    package var isOfWorkers: Bool {
        switch self {
        case .filter, .encoder: true
        case .place, .spool, .hours: false
        }
    }
    package var filter: String? { if case .filter(let name) = self { name } else { nil } }

    package var description: String {
        switch self {
        case .place(let path), .spool(let path): path
        case .filter(let name): "the filter '\(name)'"
        case .encoder(let format): "the encoder of \(format)"
        case .hours(let recipe): "the hours of recipe '\(recipe)'"
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
        case .hours(let name): recipe == name && !adHoc
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
    /// Returns the condition for rows of `jobs` that need the resource.
    static func needing(_ resource: Resource) -> SQL {
        switch resource {
        case .place(let path):
            """
            work IN (
                SELECT id FROM orders WHERE \(path) IN (json_extract(body, '$.outbox'), json_extract(body, '$.inbox')))
            """
        case .filter(let name):
            """
            work IN (SELECT orders.id FROM orders, json_each(body, '$.outputs') AS output,
                json_each(output.value, '$.chain.stages') AS stage
                WHERE json_extract(stage.value, '$.name') = \(name))
            """
        case .encoder(let format):
            """
            work IN (SELECT orders.id FROM orders, json_each(body, '$.outputs') AS output,
                json_each(output.value, '$.chain.stages') AS stage
                WHERE json_extract(stage.value, '$.name') = 'save'
                    AND json_extract(stage.value, '$.arguments.format') = \(format))
            """
        case .spool: FirstQueue.download.condition
        case .hours(let recipe):
            "recipe = \(recipe) AND work IN (SELECT id FROM orders WHERE NOT json_extract(body, '$.adHoc'))"
        }
    }

    /// Selects the rows that wait for the resource. Includes rows that also lack another resource; their jobs will wait
    /// again. For hours, `reason` identifies the waiting rows.
    private static func waiting(for resource: Resource) -> SQL {
        guard case .hours = resource else { return needing(resource) }
        return "\(needing(resource)) AND reason LIKE \(Resource.outsideHours + "%")"
    }

    /// Puts all queued jobs that need the resource into the state `waiting`, except the jobs in `except`. Passes their
    /// number to `done`.
    package nonisolated func setAside(
        _ resource: Resource, reason: String, except: [Int], done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            refused: 0,
            { ledger in
                let which: SQL = "state = 'queued' AND id NOT IN \(except) AND \(Self.needing(resource))"
                try ledger.add(.waiting, text: "\(reason)", where: which)
                try ledger.writer.run(
                    "UPDATE jobs SET state = 'waiting', hold = 'place', reason = \(reason) WHERE \(which)")
                return ledger.writer.changes
            }, done: done)
    }

    /// Queues the jobs that wait for the resource, except the jobs in `except`. They get the positions from `position`
    /// on, at the end of the queue. Passes their number to `done`.
    package nonisolated func bringBack(
        _ resource: Resource, except: [Int], at position: Int, done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            refused: 0,
            {
                let which: SQL = "hold = 'place' AND id NOT IN \(except) AND \(Self.waiting(for: resource))"
                return try $0.bringBack(which, at: position)
            }, done: done)
    }

    /// Queues the jobs whose retry is due. They get the positions from `position` on, at the end of the queue. Passes
    /// their number and the time of the next retry to `done`. If the clock was set back, subtracts `setBack` from all
    /// due times. Moves due times that are more than `most` away to `most` from now. All times are in seconds.
    package nonisolated func bringBackDue(
        at position: Int, setBack: Double = 0, most: Double, now: Double = Timestamp.now(),
        done: @escaping @Sendable (_ count: Int, _ next: Double?) -> Void
    ) {
        write(refused: (count: 0, next: Double?.none)) { ledger in
            if setBack > 0 {
                try ledger.writer.run("UPDATE jobs SET due = due - \(setBack) WHERE due IS NOT NULL")
            }
            let last = now + most
            try ledger.writer.run("UPDATE jobs SET due = \(last) WHERE due IS NOT NULL AND due > \(last)")
            let count = try ledger.bringBack("hold = 'retry' AND due <= \(now)", at: position)
            return (count, try ledger.writer.value("SELECT MIN(due) FROM jobs WHERE due IS NOT NULL"))
        } done: {
            done($0.count, $0.next)
        }
    }

    /// Queues jobs before their retry is due. They get the positions from `position` on, at the end of the queue.
    /// Selects only jobs with an ID up to `last`. If `ids` is given, selects only jobs in `ids`. If `batch` is given,
    /// selects only jobs of that batch. Passes the IDs of the queued jobs to `done`.
    package nonisolated func bringBackEarly(
        _ ids: [Int]?, of batch: Int? = nil, upTo last: Int, at position: Int, done: @escaping @Sendable ([Int]) -> Void
    ) {
        write(
            isAsked: true, refused: [],
            { ledger in
                let which: SQL = """
                    hold = 'retry' AND id <= \(last) AND (\(ids == nil) OR id IN \(ids ?? []))
                        AND (\(batch) IS NULL OR batch = \(batch))
                    """
                let brought: [Int] = try ledger.writer.column(
                    "SELECT id FROM jobs WHERE state = 'waiting' AND \(which) ORDER BY id")
                _ = try ledger.bringBack(which, at: position)
                return brought
            }, done: done)
    }

    /// Queues the waiting jobs that match `which`, at positions from `position` on.
    private func bringBack(_ which: SQL, at position: Int) throws -> Int {
        try add(.queued, where: "state = 'waiting' AND \(which)")
        try writer.run(
            """
            UPDATE jobs SET state = 'queued', hold = NULL, due = NULL, reason = NULL, position = \(position) + row.number FROM
                (SELECT id, ROW_NUMBER() OVER (ORDER BY position) - 1 AS number FROM jobs
                    WHERE state = 'waiting' AND \(which)) AS row
            WHERE row.id = jobs.id
            """)
        return writer.changes
    }

    /// A reason for waiting, the number of jobs that share it, and the earliest retry among them.
    package struct Waiting: Sendable {
        package var waitReason: JobRecord.WaitReason?
        /// The obstacle that these jobs share, such as the error before a retry.
        package var reason: String?
        package var count: Int
        package var due: Double?
    }

    /// Maximum number of reasons in an answer. An extra entry counts the jobs with all other reasons together.
    private static let mostReasons = 20

    /// Returns the reasons for waiting, the most frequent first.
    package nonisolated func waiting(_ who: JobGroup = .all) throws -> [Waiting] {
        let (index, condition) = who.selection
        let rows: SQL = "FROM jobs \(index) WHERE state = 'waiting' AND \(condition)"
        return try read { database in
            let waiting = try database.rows(
                """
                SELECT hold, obstacle, COUNT(*) AS count, MIN(due) AS due \(rows)
                GROUP BY hold, obstacle ORDER BY count DESC LIMIT \(literal: Self.mostReasons)
                """
            ) { row in
                try Waiting(
                    waitReason: row["hold"], reason: row["obstacle"], count: row["count"], due: row["due"])
            }
            guard waiting.count == Self.mostReasons else { return waiting }
            let all = try database.value("SELECT COUNT(*) \(rows)") ?? 0
            let rest = all - waiting.reduce(0) { $0 + $1.count }
            return rest > 0 ? waiting + [Waiting(reason: "other reasons", count: rest)] : waiting
        }
    }

    /// Returns the number of these jobs that are queued and start in this queue.
    package nonisolated func queued(_ who: JobGroup, _ entry: FirstQueue) throws -> Int {
        if case .all = who { return try queuedCount(entry) }
        return try value(
            """
            SELECT COUNT(*) FROM jobs WHERE state = 'queued' AND \(entry.condition) AND \(who.selection.condition)
            """) ?? 0
    }
}

extension JobGroup {
    fileprivate var selection: (index: SQL, condition: SQL) {
        switch self {
        case .all: ("INDEXED BY jobs_waiting", "1")
        case .batch(let batch): ("INDEXED BY jobs_waiting", "batch = \(batch)")
        case .these(let ids): ("", "id IN \(ids)")
        }
    }
}
