package import JobModel
package import PipelineModel

/// The queued jobs of one priority that share their turns: the downloads from one host, or the pictures of one member
/// of a recipe. A member is a batch, or a user's pictures outside batches. Hosts take turns with hosts, recipes with
/// recipes, and the members of a recipe with each other.
package struct Lane: Hashable, Sendable {
    package var queue: FirstQueue
    /// The host of downloads, or the recipe of pictures.
    package var group: String
    /// The ID of the pictures' batch; for pictures outside batches, a negative number that identifies their user; for
    /// downloads, 0.
    package var member: Int
    package var priority: Priority

    package init(_ queue: FirstQueue, _ group: String, member: Int = 0, _ priority: Priority) {
        (self.queue, self.group, self.member, self.priority) = (queue, group, member, priority)
    }
}

extension JobRecord {
    /// The lane from which the job enters the window of loaded jobs.
    package var lane: Lane { lane(in: entry) }

    /// Returns the lane in which the job waits in this queue.
    package func lane(in queue: FirstQueue) -> Lane {
        let priority = Priority(rank: priority)
        return switch queue {
        case .download: Lane(.download, host ?? "", priority)
        case .render: Lane(.render, order.recipe, member: batch ?? -1 - owner, priority)
        }
    }
}

extension Ledger {
    /// Returns the first queued jobs of a lane, excluding `except`.
    package nonisolated func queued(_ lane: Lane, except: [Int], limit: Int) throws -> [JobRecord] {
        let (index, members): (SQL, SQL) =
            switch lane.queue {
            case .download: ("jobs_by_host", "j.host = \(lane.group)")
            case .render:
                ("jobs_by_recipe", "j.recipe = \(lane.group) AND coalesce(j.batch, -1 - j.owner) = \(lane.member)")
            }
        return try jobs(
            by: index,
            """
            WHERE j.state = 'queued' AND \(lane.queue.condition) AND j.priority = \(lane.priority.rank) AND \(members)
                AND j.id NOT IN \(except) ORDER BY j.position LIMIT \(limit)
            """)
    }

    /// Returns the next host or recipe after `group`, in alphabetical order, that has queued jobs of this priority.
    package nonisolated func group(after group: String, _ queue: FirstQueue, _ priority: Priority) throws -> String? {
        let (name, index): (SQL, SQL) =
            switch queue {
            case .download: ("host", "jobs_by_host")
            case .render: ("recipe", "jobs_by_recipe")
            }
        return try value(
            """
            SELECT \(name) FROM jobs INDEXED BY \(index) WHERE state = 'queued' AND \(queue.condition)
                AND priority = \(priority.rank) AND \(name) > \(group) ORDER BY \(name) LIMIT 1
            """)
    }

    /// Returns the next `Lane.member` after `member` that has queued pictures of this recipe and priority.
    package nonisolated func member(after member: Int, of recipe: String, _ priority: Priority) throws -> Int? {
        try value(
            """
            SELECT coalesce(batch, -1 - owner) FROM jobs INDEXED BY jobs_by_recipe
            WHERE state = 'queued' AND \(FirstQueue.render.condition) AND priority = \(priority.rank)
                AND recipe = \(recipe) AND coalesce(batch, -1 - owner) > \(member)
            ORDER BY coalesce(batch, -1 - owner) LIMIT 1
            """)
    }
}
