import PipelineControl

/// The number of files in a folder that `pipectl add` leaves out for the same reason.
struct LeftOut: Encodable {
    var folder: String
    var files: Int
    var reason: String

    /// Prints a line for each reason to standard error, the most frequent reason first.
    static func say(_ ignored: [Control.Ignored], of folder: String, json: Bool) {
        let lines = Dictionary(grouping: ignored, by: \.reason)
            .map { LeftOut(folder: folder, files: $0.value.count, reason: $0.key) }
            .sorted { ($1.files, $0.reason) < ($0.files, $1.reason) }
        for line in lines {
            let are = line.files == 1 ? "is" : "are"
            Program.say(
                line, "\(folder): \(Amount.counted(line.files, "file")) \(are) left out: \(line.reason)", json: json)
        }
    }
}
