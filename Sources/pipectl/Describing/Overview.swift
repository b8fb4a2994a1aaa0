import PipelineControl

/// The text of `pipectl status`.
struct Overview {
    let status: Control.Overview
    var progress: Call.Progress.Reply?
    let width: Int?
    var now = Moment.now()

    var lines: [Text] {
        var blocks = [
            [head] + problems, [counts] + waiting, work, status.queues.lines(width: width), fleet, inboxes, kept,
            ignored,
        ]
        blocks.removeAll(where: \.isEmpty)
        return Array(blocks.joined(separator: [""]))
    }

    private var head: Text {
        var parts = ["up " + (Moment.seconds(status.started).map { Moment.duration(now - $0) } ?? status.started)]
        parts.append(Amount.counted(status.workers, "worker"))
        if let root = status.root { parts.append(root) }
        let line: Text = "\("pipelined \(status.version)", .strong) · \(parts.joined(separator: " · "))"
        return status.stopping ? line + " · \("stopping: takes nothing new", .halted)" : line
    }

    private var problems: [Text] {
        status.problems.map { "\("problem:", .bad) \($0)" }
            + status.inboxProblems.map { "\("problem:", .bad) \($0)" }
    }

    private var counts: Text {
        let jobs = status.jobs
        let all = [
            ("waiting", jobs.waiting), ("queued", jobs.queued), ("running", jobs.running),
            ("cancelling", jobs.cancelling), ("done", jobs.done), ("failed", jobs.failed),
            ("cancelled", jobs.cancelled), ("ignored", jobs.ignored),
        ]
        let some = all.filter { $0.1 > 0 }
        guard let first = some.first else { return "no jobs yet" }
        func text(_ part: (String, Int)) -> Text { "\("\(part.1) \(part.0)", .state(part.0))" }
        return some.dropFirst().reduce(text(first)) { $0 + ", " + text($1) }
    }

    private var waiting: [Text] {
        var table = Table([.init(title: "", right: true), .init(title: "", fit: .words)])
        for waiting in status.waiting { table.add("  \(waiting.jobs)", Text(waiting.reason, .halted)) }
        return table.isEmpty ? [] : table.lines(width: width)
    }

    /// The progress of the jobs in progress, in at most 12 lines, as `pipectl watch` shows it.
    private var work: [Text] {
        guard let progress, progress.running > 0 else { return [] }
        return ProgressPage(progress).lines(width: width ?? 80, height: 12)
    }

    private var inboxes: [Text] {
        var table = Table([
            .init(title: "INBOX", fit: .name), .init(title: "RECIPE"), .init(title: "WATCH"),
            .init(title: "", fit: .words),
        ])
        for inbox in status.inboxes {
            var notes: [String] = []
            if inbox.settling > 0 { notes.append("\(inbox.settling) settling") }
            if inbox.ignored > 0 { notes.append("\(inbox.ignored) ignored") }
            table.add(
                .name(inbox.path), Text(inbox.recipe), Text(inbox.watch),
                inbox.problem == nil ? Text(notes.joined(separator: ", ")) : Text("problem", .bad))
        }
        return table.isEmpty ? [] : table.lines(width: width)
    }

    /// The fleet in one line.
    private var fleet: [Text] { status.fleet.map { [$0.head] } ?? [] }

    /// Archived originals and results with their sizes, and the free space of the disks.
    private var kept: [Text] {
        let words = ["archive": "archived", "results": "results"]
        let parts = status.kept.map { kept in
            "\(kept.files) \(words[kept.place] ?? kept.place) \(Amount.bytes(kept.bytes))"
                + (kept.rule == "keep" ? "" : " (\(kept.rule))")
        }
        let disks = status.disks.enumerated().map { index, disk in
            let name = index == 0 ? "disk" : "disk of \(disk.path)"
            return Text("\(name): \(disk.share) % of \(Amount.bytes(disk.bytes)), \(Amount.bytes(disk.free)) free")
        }
        let line = parts.isEmpty ? [] : [Text("kept: " + parts.joined(separator: " · "))]
        return line + disks
    }

    /// The ignored files, in a line for each reason.
    private var ignored: [Text] {
        guard !status.ignoredReasons.isEmpty else { return [] }
        let isWhole = status.ignoredReasons.allSatisfy { $0.files == 1 }
        let hint: [Text] = isWhole ? [] : [Text("`pipectl ignored` lists them all", .faint)]
        return Table(ignored: status.ignoredReasons).lines(width: width) + hint
    }
}

extension Table {
    private static var ofIgnored: Table {
        Table([.init(title: "LEFT ALONE", fit: .name), .init(title: "", fit: .words)])
    }

    /// A table of the ignored files, each with the reason.
    init(ignored: [Control.Ignored]) {
        self = .ofIgnored
        for file in ignored { add(.name(file.path), Text(file.reason, .faint)) }
    }

    /// A table of the reasons for ignoring files, each with the name of one of the files.
    init(ignored: [Control.IgnoredReason]) {
        self = .ofIgnored
        for reason in ignored {
            let others = reason.files > 1 ? " and \(reason.files - 1) more" : ""
            add(.name(reason.example + others), Text(reason.reason, .faint))
        }
    }
}
