import ManualPages
import PipelineControl
import SystemCalls

extension Manual {
    static var manualPage: String {
        ManualPage("pipectl", section: 1, summary: "shows, cancels and tunes a running pipelined", parts: parts)
            .roff(version: Release.version, date: Release.date)
    }

    private static var parts: [ManualPage.Part] {
        [
            .section("SYNOPSIS"), .paragraph("`pipectl` [OPTION…] [VERB] [WORD…]"),
            .section("DESCRIPTION"),
            .paragraph(
                "`pipectl` talks to the daemon, `pipelined`(8), over its control socket. Without a verb it prints an "
                    + "overview of what the daemon is doing. Options may stand anywhere, before or after the verb; "
                    + "`--` ends them. The number of a job may be written as the tables show it, `#12`."),
            .section("OPTIONS"), .paragraph("These options work with every verb."),
        ] + Option.everywhere.map(entry) + [.section("VERBS")] + Verb.all.flatMap(verb)
            + [.section("EXIT STATUS")]
            + ExitCode.allCases.map { .entry("\($0.rawValue)", value: "", $0.meaning) }
            + [
                .section("ENVIRONMENT"),
                .entry(
                    SocketAddress.variable, value: "", "the daemon's socket, unless `--socket` or `--root` names one"),
                .entry("NO_COLOR", value: "", "if set and not empty: no colour, unless `--color` asks for it"),
                .section("FILES"),
                .entry(SocketAddress.systemPath, value: "", "the socket of the system's daemon"),
                .entry(
                    SocketAddress.path(below: "DIR"), value: "",
                    "the socket of a daemon that runs as `pipelined --root DIR`"
                ),
            ] + ManualPage.others(("pipelined", 8), ("pipelined.conf", 5), ("pipelined.recipe", 5))
    }

    private static func verb(_ verb: Verb) -> [ManualPage.Part] {
        var parts: [ManualPage.Part] = [
            .heading(verb.name),
            .paragraph(
                "`pipectl \(verb.name)` \(verb.usage)" + (verb.alias.map { "; `pipectl \($0)` is the same" } ?? "")),
            .paragraph("\(verb.summary.prefix(1).uppercased())\(verb.summary.dropFirst())."),
        ]
        if !verb.discussion.isEmpty { parts.append(.paragraph(verb.discussion.joined(separator: " "))) }
        parts += verb.arguments.map { .entry("", value: $0.name, $0.help) } + verb.options.map(entry)
        if !verb.examples.isEmpty { parts.append(.paragraph("Examples:")) }
        return parts + verb.examples.map(example)
    }

    private static func example(_ example: Example) -> ManualPage.Part {
        .entry(example.command, value: "", example.explanation)
    }

    private static func entry(_ option: Option) -> ManualPage.Part {
        .entry(option.value == nil ? option.names : option.names + " ", value: option.value ?? "", option.help)
    }
}
