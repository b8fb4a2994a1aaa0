package import PipelineModel

/// Selects the jobs for a bulk change. A job must match every field that is set.
package struct JobChoice: Sendable {
    package var ids: [Int]?
    package var batch: Int?
    package var recipe: String?
    package var states: [JobState]?
    /// Paused queues. Their queued jobs are shown as waiting, so they are selected in addition to the jobs in `states`.
    package var held: [FirstQueue]

    package init(
        ids: [Int]? = nil, batch: Int? = nil, recipe: String? = nil, states: [JobState]? = nil, held: [FirstQueue] = []
    ) {
        (self.ids, self.batch, self.recipe, self.states, self.held) = (ids, batch, recipe, states, held)
    }

    /// The SQL condition. Its parameters are numbered from `first`, in the order of `values`.
    static func condition(from first: Int) -> String {
        let (ids, batch, recipe, states) = ("?\(first)", "?\(first + 1)", "?\(first + 2)", "?\(first + 3)")
        let held = "?\(first + 4)"
        return """
            (\(ids) IS NULL OR id IN (SELECT value FROM json_each(\(ids)))) AND (\(batch) IS NULL OR batch = \(batch))
                AND (\(recipe) IS NULL OR work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = \(recipe)))
                AND (\(states) IS NULL OR state IN (SELECT value FROM json_each(\(states))) OR (state = 'queued' AND
                    CASE WHEN \(FirstQueue.download.condition) THEN 'download' ELSE 'render' END IN
                        (SELECT value FROM json_each(\(held)))))
            """
    }

    var values: [Database.Value] {
        get throws {
            [
                ids.map(Database.Value.list) ?? .null, .optional(batch), .optional(recipe),
                .optional(try states.map(JSONText.encode)), .text(try JSONText.encode(held.map(\.rawValue))),
            ]
        }
    }

    package func speaks(of job: JobRecord) -> Bool {
        (ids?.contains(job.id) ?? true) && (batch.map { $0 == job.batch } ?? true)
            && (recipe.map { $0 == job.order.recipe } ?? true) && isOfState(job)
    }

    private func isOfState(_ job: JobRecord) -> Bool {
        guard let states else { return true }
        return states.contains(job.state) || (job.state == .queued && held.contains(job.entry))
    }
}
