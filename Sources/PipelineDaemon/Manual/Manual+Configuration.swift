import JobFlow
import ManualPages
import PictureFiles
import PipelineModel

/// pipelined.conf(5).
extension Manual {
    static var configurationPage: ManualPage {
        let (system, below) = (Places.system, Places.laidOut(below: "DIR"))
        return ManualPage(
            "pipelined.conf", section: 5, summary: "the settings of pipelined",
            parts: [
                .section("SYNOPSIS"),
                .lines([system.mainConfiguration, "\(system.moreConfiguration)/*.conf"]),
                .section("DESCRIPTION"),
                .paragraph(
                    "These files set up the whole daemon, `pipelined`(8). Each of them may be missing. They are read "
                        + "in this order, and later settings win: `pipelined.conf`, the files of `pipelined.conf.d/` "
                        + "in the order of their names, and the file that `pipectl concurrency --save` writes."),
            ] + dialect + [
                .paragraph(
                    "`pipelined --check` reports all mistakes, with file, line and the nearest known word. `pipectl "
                        + "reload` brings a change into force; if it reports a mistake, nothing has changed. `pipectl "
                        + "settings` shows the settings in force, and where each comes from."),
                .paragraph("Each setting below is shown with its default."),
            ] + sections(of: Settings().rows) { $0 }
                + sections(of: Settings.hostRows) { $0 }
                + [
                    .section("EXAMPLES"), .paragraph("Two pictures at once, and archives for a year:"),
                    .lines(["[Queues]", "Render=2", "", "[Daemon]", "History=365d"]),
                    .section("FILES"),
                    .entry(system.mainConfiguration, value: "", "with `--root DIR`: \(below.mainConfiguration)"),
                    .entry(
                        "\(system.moreConfiguration)/*.conf", value: "",
                        "with `--root DIR`: \(below.moreConfiguration)/*.conf"),
                    .entry(
                        system.saved, value: "", "the limits set with `--save`; with `--root DIR`: \(below.saved)"),
                ] + ManualPage.others(("pipelined", 8), ("pipelined.recipe", 5), ("pipectl", 1)))
    }

    /// The syntax that `pipelined.conf` and recipes have in common.
    static let dialect: [ManualPage.Part] = [
        .paragraph(
            "A file has sections, `[Section]`, of lines `Key=value`. Lines that begin with # or ; are comments. A line "
                + "that ends with a backslash goes on in the next. An empty value sets its setting back to the "
                + "default. A time is written like 500ms, 5s, 10min or 1h 30min, and counts seconds without a unit; a "
                + "size is written like 512M or 2G."
        )
    ]

    /// The settings with their defaults. Each section of the table becomes a section of the page.
    static func sections(of rows: [SettingRow], named name: (String) -> String) -> [ManualPage.Part] {
        var parts: [ManualPage.Part] = []
        var section: String?
        for row in rows {
            if row.section != section { parts.append(.section("[\(name(row.section))]")) }
            section = row.section
            let values = row.help.contains(row.values) ? "" : " (\(row.values))"
            parts.append(.entry("\(row.key)=", value: row.default, row.help + values))
        }
        return parts
    }
}
