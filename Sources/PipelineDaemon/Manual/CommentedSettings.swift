import PipelineModel

/// An initial `pipelined.conf`, made from the table of settings. Each setting is commented out and shows its default.
enum CommentedSettings {
    private static let width = 100

    static var text: String {
        let beginning = [
            "The settings of pipelined, each as it is without this file: pipelined.conf(5), or `pipectl settings` for those in force.",
            "Remove the # from the settings that you change; then `pipectl reload --check`, and `pipectl reload`.",
        ]
        let settings = sections(of: Settings().rows, "") + sections(of: Settings.hostRows, "#")
        return (beginning.flatMap(comment) + settings).joined(separator: "\n") + "\n"
    }

    /// `mark` precedes the section headers; "#" makes them comments as well.
    private static func sections(of rows: [SettingRow], _ mark: String) -> [String] {
        var lines: [String] = []
        var section: String?
        for row in rows {
            if row.section != section { lines += ["", "\(mark)[\(row.section)]"] }
            section = row.section
            let values = row.help.contains(row.values) ? "" : " (\(row.values))"
            lines += comment(row.help + values) + ["#\(row.key)=\(row.default)"]
        }
        return lines
    }

    private static func comment(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append("# \(word)")
            }
        }
        return lines
    }
}
