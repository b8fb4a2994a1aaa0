import JobModel
import PipelineModel

extension JobChoice {
    /// The SQL condition that selects the chosen rows of `jobs`.
    var condition: SQL {
        """
        (\(ids == nil) OR id IN \(ids ?? [])) AND (\(batch) IS NULL OR batch = \(batch))
            AND (\(recipe) IS NULL OR work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = \(recipe)))
            AND (\(states == nil) OR state IN \(states ?? []) OR (state = 'queued' AND
                CASE WHEN \(FirstQueue.download.condition) THEN 'download' ELSE 'render' END IN \(stoppedQueues)))
        """
    }
}
