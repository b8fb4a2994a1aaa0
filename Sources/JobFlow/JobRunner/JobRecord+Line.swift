package import JobLedger
package import PictureFiles

extension JobRecord {
    /// The line of the log about a job that is done.
    package func line(_ places: Places) -> String {
        let time = (finished ?? 0) - (started ?? 0)
        let results = outputs.map(\.path).map { path in
            path.hasPrefix(places.data + "/") ? String(path.dropFirst(places.data.count + 1)) : path
        }
        // Foundation's formats cost more than all the rest of the line, and there is one a job.
        let hundredths = Int((max(0, time) * 100).rounded())
        let took = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
        let shown = results.isEmpty ? "nothing" : results.joined(separator: ", ")
        return "\(order.recipe): \(path) → \(shown) (\(took))"
    }
}
