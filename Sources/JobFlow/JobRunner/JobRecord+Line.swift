package import JobModel
package import PictureFiles

extension JobRecord {
    /// Returns the log line for a job that was done at `end`. The record does not contain this time yet.
    package func line(_ places: Places, end: Double) -> String {
        let time = started.map { end - $0 } ?? 0
        let results = outputs.map(\.path).map { path in
            path.hasPrefix(places.data + "/") ? String(path.dropFirst(places.data.count + 1)) : path
        }
        // Formats the time by hand, because each job writes a line, and Foundation's formatting costs more than
        // everything else in the line.
        let hundredths = Int((max(0, time) * 100).rounded())
        let took = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
        let shown = results.isEmpty ? "nothing" : results.joined(separator: ", ")
        return "\(order.recipe): \(path) → \(shown) (\(took))"
    }
}
