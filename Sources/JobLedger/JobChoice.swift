import JobModel
import PipelineModel

extension JobChoice {
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
}
