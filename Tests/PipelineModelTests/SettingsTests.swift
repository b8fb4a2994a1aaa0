import Testing

@testable import PipelineModel

struct SettingsTests {
    private func load(_ texts: String...) -> (settings: Settings, problems: [String]) {
        let files = texts.enumerated().map { ConfigurationText(name: "\($0.offset + 1).conf", text: $0.element) }
        let loaded = Configuration.load(settings: files, recipes: [], catalog: .withNoir)
        return (loaded.configuration.settings, loaded.problems.map(\.description))
    }

    @Test("Without files everything has the documented default")
    func defaults() {
        let rows = load().settings.rows
        #expect(
            rows.map { "\($0.section) \($0.key)=\($0.default)" } == [
                "Daemon DefaultRecipe=noir", "Daemon DrainTimeout=30s", "Daemon CancelGrace=250ms",
                "Daemon JobTimeout=5min", "Daemon HookTimeout=30s", "Daemon HangTimeout=10s", "Daemon Sandbox=best",
                "Daemon JPEGDecoder=own", "Daemon PNGDecoder=own", "Daemon Log=jobs",
                "Daemon MaxPixels=268M", "Daemon MaxTexts=16M", "Daemon MaxStages=32",
                "Daemon MaxResult=1G",
                "Daemon MemoryBudget=75%", "Daemon CrashTries=5", "Daemon CrashStrikes=3",
                "Daemon WorkerJobs=5000", "Daemon FreeSpace=16M",
                "Daemon History=30d",
                "Daemon HistoryJobs=100000", "Daemon Retries=5", "Daemon RetryDelay=5s", "Daemon RetryMost=1h",
                "Daemon PluginTimeout=15s", "Daemon FilterLines=10",
                "Daemon FilterFiles=64M",
                "Queues Download=8", "Queues Render=auto",
                "Queues Publish=128", "Queues PreviewPause=1s",
                "Queues Window=1024", "Inbox Watch=auto", "Inbox Settle=500ms",
                "Inbox PollInterval=5s", "Inbox SettlePolled=5s", "Inbox WriterTimeout=10min",
                "Download ConnectTimeout=10s",
                "Download StallTimeout=30s", "Download MaxSize=512M", "Download PerHost=4", "Download Retries=5",
                "Download Redirects=5", "Download AllowPrivateHosts=", "Download ListSize=16M",
                "Download ListLines=200000", "Control MaxClients=256", "Control MaxCall=128K",
                "Control MaxUnread=256K", "Control StallTimeout=1min", "Control MaxSize=2G",
                "Control HistoryEvents=200000", "Control LookGroup=pipelined-look", "Keep Archive=keep",
                "Keep Failed=keep", "Keep Cancelled=keep",
                "Keep Results=keep", "Keep ClockLeap=31d", "Keep Previews=256M", "Fleet Servers=", "Fleet Credentials=",
                "Fleet Authority=", "Fleet Name=", "Fleet Places=auto", "Fleet Give=auto", "Fleet Ahead=auto",
                "Fleet TakeBack=2min", "Fleet Obey=yes",
            ])
        #expect(rows.allSatisfy { $0.value == $0.default && $0.source == "default" && !$0.help.isEmpty })
    }

    @Test("Every default that is written to a file as shown is read back unchanged")
    func roundTrip() {
        let text = Settings().rows.map { "[\($0.section)]\n\($0.key)=\($0.value)\n" }.joined()
        let loaded = load(text)
        #expect(loaded.problems == [])
        #expect(loaded.settings.rows.map(\.value) == Settings().rows.map(\.value))
        // An empty setting counts as not set.
        #expect(loaded.settings.rows.allSatisfy { $0.source == ($0.value.isEmpty ? "default" : "1.conf") })
    }

    @Test("Every setting refuses nonsense with its own name")
    func nonsense() {
        for row in Settings().rows where row.key != "DefaultRecipe" {
            let problems = load("[\(row.section)]\n\(row.key)=?!").problems
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("1.conf:2: \(row.key)=?! is ") == true, "\(problems)")
        }
    }

    @Test("A later file wins, and an empty assignment restores the default")
    func laterWins() {
        let settings = load(
            "[Daemon]\nDrainTimeout=10s\nJobTimeout=1h\n[Queues]\nRender=2", "[Daemon]\nDrainTimeout=20s\nJobTimeout="
        ).settings
        #expect(settings.drainTimeout == .seconds(20))
        #expect(settings.jobTimeout == .seconds(300))
        #expect(settings.render == .count(2))
        let sources = Dictionary(uniqueKeysWithValues: settings.rows.map { ("\($0.section) \($0.key)", $0.source) })
        #expect(sources["Daemon DrainTimeout"] == "2.conf")
        #expect(sources["Daemon JobTimeout"] == "default")
        #expect(sources["Queues Render"] == "1.conf")
    }

    @Test("Comments, spaces, a byte-order mark, Windows line ends and continued lines are understood")
    func dialect() {
        let loaded = load(
            "\u{FEFF}# a comment\r\n; another\r\n[ Daemon ]\r\n  JobTimeout =  1h \\\r\n# in between\r\n  30min  \r\n"
                + "CancelGrace=1s")
        #expect(loaded.problems == [])
        #expect(loaded.settings.jobTimeout == .seconds(5400))
        #expect(loaded.settings.cancelGrace == .seconds(1))
    }

    @Test("All problems are reported at once, each with its line")
    func problems() {
        let loaded = load(
            """
            Loose=1
            [Deamon]
            Ignored=here
            [Daemon]
            DrainTimout=1s
            Window=5
            DrainTimeout=2h
            JobTimeout=soon
            MaxPixels=1
            just words
            [Queues]
            Render=1025
            [Inbox
            Settle=1s
            [Inbox]
            Watch=pol
            """)
        #expect(
            loaded.problems.sorted { $0.count < $1.count }
                == [
                    "1.conf:16: Watch=pol is unknown; did you mean 'poll'?",
                    "1.conf:2: unknown section [Deamon]; did you mean '[Daemon]'?",
                    "1.conf:13: '[Inbox' is not a section; write [Name]",
                    "1.conf:10: 'just words' is not a setting; write Key=value",
                    "1.conf:1: 'Loose' outside any section; write a line [Section] above it",
                    "1.conf:9: MaxPixels=1 is out of range; it may be 1K to 10G",
                    "1.conf:7: DrainTimeout=2h is out of range; it may be 0s to 1h",
                    "1.conf:6: unknown setting 'Window' in [Daemon]; it belongs in [Queues]",
                    "1.conf:12: Render=1025 is out of range; it may be auto or 0 to 1024",
                    "1.conf:8: JobTimeout=soon is not a time; write it like 500ms, 5s, 10min or 1h",
                    "1.conf:5: unknown setting 'DrainTimout' in [Daemon]; did you mean 'DrainTimeout'?",
                ].sorted { $0.count < $1.count })
    }

    @Test(
        "A memory budget is a size or a share, within its range",
        arguments: [
            ("1%", 10), ("100%", 1000), ("0%", nil), ("101%", nil), ("64M", 64 << 20), ("65535K", nil),
            ("1024T", 1 << 50),
            ("1025T", nil), ("half", nil), ("-5%", nil),
        ] as [(String, Int64?)])
    func memoryBudget(text: String, bytes: Int64?) {
        let loaded = load("[Daemon]\nMemoryBudget=\(text)")
        #expect(loaded.problems.isEmpty == (bytes != nil))
        if let bytes { #expect(loaded.settings.memoryBudget.bytes(of: 1000) == bytes) }
    }

    @Test("A change at run time is checked like a file, and its source is shown")
    func liveChange() throws {
        var settings = Settings()
        try settings.set("Render", in: "Queues", to: "3", source: "pipectl")
        #expect(settings.render == .count(3))
        #expect(settings.rows.first { $0.key == "Render" }?.source == "pipectl")
        #expect(throws: Problem(file: "pipectl", line: nil, message: "Window=0 is out of range; it may be 1 to 65536"))
        {
            try settings.set("Window", in: "Queues", to: "0", source: "pipectl")
        }
        #expect(settings.window == 1024)
    }
}
