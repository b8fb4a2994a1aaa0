import PipelineControl
import TestTools
import Testing

@testable import pipectl

struct NarrowTerminalTests {
    private let daemon: CannedDaemon

    init() throws { daemon = try CannedDaemon() }

    /// Returns the output on a terminal of this width. Checks that no line is too long, and that no word is split: each
    /// word without `…` must also be in the output on a very wide terminal.
    private func lines(_ words: [String], _ columns: UInt16) throws -> [String] {
        func output(_ columns: UInt16) throws -> [String] {
            let terminal = try PipectlTerminal(words, at: daemon, columns: columns)
            #expect(terminal.finish() == 0)
            return terminal.lines
        }
        let whole = Set(try output(500).flatMap { $0.split { " /|".contains($0) } })
        let lines = try output(columns)
        for line in lines {
            #expect(line.columns <= Int(columns), "\(line)")
            for word in line.split(whereSeparator: { " /|".contains($0) }) where !word.contains("…") {
                #expect(whole.contains(word), "\(word) in: \(line)")
            }
        }
        return lines
    }

    @Test("help of every verb fits a narrow terminal, and breaks no word", arguments: Verb.all.map(\.name), [60, 80])
    func help(verb: String, columns: UInt16) throws {
        #expect(try lines(["help", verb, "--color", "never"], columns)[0].hasPrefix("\(verb): "))
    }

    @Test("the list of verbs fits a narrow terminal, and breaks no word", arguments: [60, 80])
    func overview(columns: UInt16) throws {
        let lines = try lines(["help", "--color", "never"], columns)
        #expect(lines.contains { $0.contains("what the daemon is doing") })
    }

    @Test("status has a line for each reason for ignoring files, whatever their number", arguments: [60, 80])
    func status(columns: UInt16) throws {
        var status = Sample.status(jobs: Sample.jobs { $0.ignored = 4001 }, inboxes: [Sample.inbox])
        status.kept = [
            .init(place: "archive", rule: "keep", files: 1204, bytes: 3_100_000_000),
            .init(place: "results", rule: "keep", files: 1204, bytes: 1_240_000_000),
        ]
        status.ignoredReasons = [
            .init(
                reason: "recipe 'web' takes no *.txt; its Match= says which it does", files: 4000,
                example: "/srv/inbox/notes.txt"),
            .init(reason: "its name is not UTF-8; rename it", files: 1, example: #"/srv/inbox/a\xff.jpg"#),
        ]
        daemon.answer(Call.Status.self, .init(status: status))
        let lines = try lines(["status", "--color", "never"], columns)
        let start = try #require(lines.firstIndex { $0.hasPrefix("LEFT ALONE") })
        #expect(lines[start + 1].contains("/notes.txt and 3999 more  "))
        #expect(lines.contains { $0.contains(#"/a\xff.jpg"#) })
        #expect(lines.contains("`pipectl ignored` lists them all"))
        #expect(lines.contains { $0.contains("1.2 GB") })
    }

    @Test("settings keep their names and values, and leave out what a narrow terminal has no room for")
    func settings() throws {
        let setting = Control.Setting(
            section: "Daemon", key: "MetadataTimeout", value: "keep-everything", default: "auto", source: "pipectl",
            help: "how long running operations may continue after a stop was requested")
        daemon.answer(Call.Settings.self, .init(settings: [setting]))
        #expect(try lines(["settings", "--color", "never"], 60)[1] == "[Daemon] MetadataTimeout  keep-everything")
        #expect(try lines(["settings", "--color", "never"], 80)[1].contains("  how long"))
    }

    @Test("show and ignored fit a narrow terminal, and break paths only after slashes", arguments: [60, 80])
    func paths(columns: UInt16) throws {
        let place = "/var/lib/pipelined/outbox/noir/2026/03/holidays-in-lucerne/"
        let error = "the picture is incomplete: its end is missing (premature end of file)"
        var job = Sample.job(12, "failed", error: error)
        job.outputs = ["\(place)harbour.jpg"]
        job.batch = 3
        let story = Control.Story(
            job: job, chains: ["": "resize scale=0.5 | noir contrast=1.4 | save format=jpeg quality=85 metadata=strip"],
            original: "\(place)harbour-at-dawn-with-boats.jpg", tries: 1, advice: "copy it again from where it came",
            operations: [
                .init(
                    kind: "render", queue: "render", state: "failed", detail: "premature end of file", attempt: 1,
                    failure: "input")
            ], priority: "normal", after: .init(count: 0), followers: .init(count: 0))
        daemon.answer(Call.Show.self, .init(story: story))
        #expect(try lines(["show", "12", "--color", "never"], columns).contains { $0.hasSuffix("harbour.jpg") })
        let files = (1...3).map { number in
            Control.Ignored(path: "\(place)notes-\(number).txt", reason: "recipe 'web' takes no *.txt; Match= says so")
        }
        daemon.answer(Call.ListIgnored.self, .init(ignored: files))
        #expect(try lines(["ignored", "--color", "never"], columns).contains { $0.contains("notes-3.txt") })
    }

    @Test("an error on a narrow terminal breaks no word, and its JSON is one line")
    func errors() throws {
        let lines = Text("pipectl: there is no recipe 'web'; the recipes are noir, archive and print").wrapped(to: 40)
        #expect(
            lines.map { $0.rendered(color: false) } == [
                "pipectl: there is no recipe 'web'; the", "  recipes are noir, archive and print",
            ])
    }
}
