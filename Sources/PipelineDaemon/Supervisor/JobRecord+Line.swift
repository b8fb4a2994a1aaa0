import JobLedger

extension JobRecord {
    /// The line of the log about a job that is done.
    func line(_ places: Places) -> String {
        let time = (finished ?? 0) - (started ?? 0)
        let results = outputs.map { $0.hasPrefix(places.data + "/") ? String($0.dropFirst(places.data.count + 1)) : $0 }
        // Foundation's formats cost more than all the rest of the line, and there is one a job.
        let hundredths = Int((max(0, time) * 100).rounded())
        let took = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
        let shown = results.isEmpty ? "nothing" : results.joined(separator: ", ")
        return "\(order.recipe): \(path) → \(shown) (\(took))"
    }
}
