import PipelineControl

/// Progress in as many lines as there is room for: a bar for each batch, and its jobs in progress below.
struct ProgressPage {
    /// A bar, and the lines below it.
    struct Group {
        var title = ""
        var batch: Control.Batch?
        var progress: Control.Progress
        /// Jobs that have progress to show; `ready` counts the other jobs, which are ready for their next operation.
        var jobs: [Control.JobProgress] = []
        var ready = 0

        init(
            title: String = "", batch: Control.Batch? = nil, progress: Control.Progress,
            jobs: [Control.JobProgress] = []
        ) {
            (self.title, self.batch, self.progress) = (title, batch, progress)
            self.jobs = jobs.filter { $0.operation != nil || $0.job.state != "running" }
            ready = jobs.count - self.jobs.count
        }
    }

    var notes: [Text] = []
    var groups: [Group]
    /// Numbers of batches and jobs that the daemon's reply omits because of its limits.
    var moreBatches = 0
    var moreJobs = 0

    init(_ reply: Call.Progress.Reply, notes: [Text] = []) {
        self.notes = notes
        groups = reply.batches.map { entry in
            Group(
                title: ["batch \(entry.batch.id)", entry.batch.name].compactMap(\.self).joined(separator: " "),
                batch: entry.batch, progress: entry.progress,
                jobs: reply.jobs.filter { $0.job.batch == entry.batch.id })
        }
        let others = Group(
            title: groups.isEmpty ? "" : "others", progress: reply.others,
            jobs: reply.jobs.filter { $0.job.batch == nil })
        if (reply.others.total ?? 0) > 0 || !others.jobs.isEmpty { groups.append(others) }
        moreBatches = reply.unfinished.beyond(reply.batches.count)
        moreJobs = reply.running.beyond(reply.jobs.count)
    }

    init(groups: [Group]) { self.groups = groups }

    func lines(width: Int, height: Int) -> [Text] {
        let tail = moreJobs > 0 ? [Text("… and \(Amount.counted(moreJobs, "more running job"))", .faint)] : []
        let room = height - notes.count - tail.count
        guard !groups.isEmpty else {
            return Array((notes + [Text("nothing to do; waiting for pictures", .faint)]).prefix(height))
        }
        // `most` is the largest number of jobs per batch that fits. If even the bars alone don't fit, fewer batches are
        // shown.
        let most = (0...max(0, room)).last { most in groups.reduce(0) { $0 + $1.height(most) } <= room } ?? 0
        let shown = most > 0 || groups.count <= room ? groups : Array(groups.prefix(max(1, room - 1)))
        let hidden = [moreBatches, groups.count - shown.count].sum
        let more = hidden > 0 ? [Text("… and \(hidden) more batch\(hidden == 1 ? "" : "es")", .faint)] : []
        let columns = JobColumns(shown.flatMap(\.jobs), width: width)
        let bars = shown.flatMap { group in [group.bar(width: width)] + group.lines(most, columns) }
        return Array((notes + bars + more + tail).prefix(height))
    }
}

extension ProgressPage.Group {
    /// The number of lines that the group needs if it shows at most `most` jobs.
    fileprivate func height(_ most: Int) -> Int { 1 + min(jobs.count, most) + (rest(most) == nil ? 0 : 1) }

    fileprivate func lines(_ most: Int, _ columns: JobColumns) -> [Text] {
        jobs.prefix(most).map(columns.line) + (rest(most).map { [Text("  … " + $0, .faint)] } ?? [])
    }

    private func rest(_ most: Int) -> String? {
        guard most > 0 else { return nil }
        let words = [
            jobs.count > most ? "and \(jobs.count - most) more" : nil,
            ready > 0 ? "\(ready) ready for their next operation" : nil,
        ].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The batch's line, which drops its least important parts on a narrow terminal: `batch 3 lucerne.urls
    /// ██████░░░░  12 of 20 · 34/min · 14 s left · 1 failed`.
    fileprivate func bar(width: Int) -> Text {
        let counts = "\(progress.done) of \(progress.total.map(String.init) ?? "?")"
        let rate = progress.rate.map(Amount.perMinute)
        let left = progress.left.map { "\($0) left" }
        let full = Text([counts, rate, left].compactMap(\.self).joined(separator: " · ")) + trouble
        let short = Text([counts, left].compactMap(\.self).joined(separator: " · ")) + trouble
        let gap = title.isEmpty ? 0 : 2
        for (figures, leastBar, leastTitle) in [(full, 20, title.columns), (full, 10, 12), (short, 10, 10)] {
            let room = width - figures.columns - 2
            let name = min(title.columns, max(leastTitle, room - leastBar - gap), 30)
            let cells = min(30, room - name - gap)
            guard cells >= leastBar, name >= min(title.columns, leastTitle, 30) else { continue }
            let head = title.isEmpty ? Text() : Text(title.shortened(to: name), .strong) + "  "
            return head + Bar(progress.fraction ?? 0, cells).text + "  " + figures
        }
        return (title.isEmpty ? Text() : Text(title, .strong) + "  ") + short
    }

    private var trouble: Text {
        var text = Text()
        guard let batch else { return text }
        if batch.failed > 0 { text = text + " · \("\(batch.failed) failed", .bad)" }
        if batch.cancelled > 0 { text = text + " · \("\(batch.cancelled) cancelled", .halted)" }
        if batch.waiting > 0 { text = text + " · \("\(batch.waiting) waiting", .halted)" }
        return text
    }
}

struct Bar {
    let full: Int
    let cells: Int

    init(_ fraction: Double, _ cells: Int) {
        self.cells = max(0, cells)
        full = max(0, min(self.cells, Int(nearest: (Double(self.cells) * fraction).rounded(.down))))
    }

    var text: Text {
        Text(String(repeating: "█", count: full), .busy) + Text(String(repeating: "░", count: cells - full), .faint)
    }
}
