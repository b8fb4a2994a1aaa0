import PipelineControl
import SystemCalls
import Testing

@testable import pipectl

/// Tests the progress display of `watch`, as text.
struct ProgressPageTests {
    private func download(_ id: Int, batch: Int? = 3, _ fraction: Double? = 0.38, name: String = "alps-panorama.jpg")
        -> Control.JobProgress
    {
        var job = Sample.job(id, "running", input: name)
        job.batch = batch
        return Control.JobProgress(
            job: job, fraction: 0.2, operation: "download",
            progress: Control.Progress(
                unit: "bytes", done: 1_558_000, total: fraction == nil ? nil : 4_100_000, fraction: fraction,
                rate: 1_200_000, remaining: fraction == nil ? nil : 2.1))
    }

    private func reply(
        _ jobs: [Control.JobProgress], others: Control.Progress = Sample.nothing,
        _ change: (inout Control.Batch) -> Void = { _ in }
    ) -> Call.Progress.Reply {
        var batch = Control.Batch(id: 3, name: "lucerne.urls", running: jobs.count, done: 12)
        change(&batch)
        let progress = Control.Progress(
            unit: "jobs", done: 12, total: 20, fraction: 0.5, rate: 0.5, remaining: 14.2)
        return Call.Progress.Reply(
            batches: [Control.BatchProgress(batch: batch, progress: progress)], others: others, jobs: jobs,
            unfinished: 1, running: jobs.count)
    }

    private func lines(_ reply: Call.Progress.Reply, _ width: Int = 79, _ height: Int = 23) -> [String] {
        ProgressPage(reply).lines(width: width, height: height).map { $0.rendered(color: false) }
    }

    @Test("A batch has a bar with its rate and remaining time, and each running job has a line")
    func batch() {
        let shown = lines(reply([download(7), download(12, 1, name: "lake.jpg")]) { $0.failed = 1 })
        #expect(shown.count == 3)
        #expect(shown[0].hasPrefix("batch 3 lucerne.urls  ██"))
        #expect(shown[0].hasSuffix("░  12 of 20 · 30/min · 14 s left · 1 failed"))
        #expect(shown[1] == "  #7  download  alps-panorama.jpg  ███░░░░░░░  38 %   1.2 MB/s         2 s")
    }

    @Test("If a server does not say the size, the line shows the received bytes and no bar")
    func unknownTotal() {
        let line = lines(reply([download(7, nil)]))[1]
        #expect(line == "  #7 download  alps-panorama.jpg            1.6 MB   1.2 MB/s")
    }

    @Test("A waiting job shows its reason, and a job between two operations is counted")
    func between() {
        var (waiting, ready) = (download(7), download(8))
        waiting.job.state = "waiting"
        waiting.job.reason = "memory: it needs about 2 GB"
        ready.operation = nil
        ready.progress = nil
        let shown = lines(reply([waiting, ready]))
        #expect(shown[1].hasSuffix("alps-panorama.jpg  memory: it needs about 2 GB"))
        #expect(shown[2] == "  … 1 ready for their next operation")
    }

    @Test("The page is never higher than the terminal, and counts the jobs it omits", arguments: [1, 2, 3, 8, 11, 23])
    func height(_ height: Int) {
        let jobs = (1...40).map { download($0) } + (41...60).map { download($0, batch: nil) }
        let others = Control.Progress(unit: "jobs", done: 1, total: 30, fraction: 0.1)
        let shown = lines(reply(jobs, others: others), 79, height)
        #expect(shown.count <= height)
        guard height > 6 else { return }
        let listed = shown.count { $0.hasPrefix("  #") }
        let left = shown.compactMap { $0.firstMatch(of: /… and (\d+) more/).flatMap { Int($0.output.1) } }
        #expect(left.reduce(listed, +) == 60, "\(shown)")
        #expect(shown.contains { $0.hasPrefix("others  ") })
    }

    @Test("Many batches have as many bars as fit")
    func manyBatches() {
        var many = reply([])
        many.batches = (1...50).map {
            Control.BatchProgress(
                batch: Control.Batch(id: $0, queued: 2), progress: Control.Progress(unit: "jobs", done: 0, total: 2))
        }
        many.unfinished = 300
        let shown = lines(many, 79, 10)
        #expect(shown.count == 10)
        #expect(shown.last == "… and 291 more batches")
    }

    @Test(
        "No line wraps, however narrow the terminal, and names stay as long as possible",
        arguments: [79, 59, 49, 30, 12, 1])
    func narrow(_ width: Int) {
        let jobs = [download(7), download(123_456, 0.5, name: "写真の風景-とても長い名前のファイル.jpg")]
        let page = ProgressPage(reply(jobs) { $0.failed = 3 })
        let screen = page.lines(width: width, height: 23).map { $0.shortened(to: width) }
        #expect(screen.allSatisfy { $0.columns <= max(width, 12) })
        if width >= 49 {
            #expect(screen[1].rendered(color: false).contains("alps"))
            #expect(screen[0].rendered(color: false).contains("12 of 20"))
            #expect(screen[1].columns <= width)
        }
    }

    @Test("Without colour there are no escape sequences, and a name can't control the terminal")
    func plain() {
        let shown = lines(reply([download(7, name: "a\u{1b}[2Jb.jpg")]))
        #expect(shown.allSatisfy { line in !line.unicodeScalars.contains { $0.drivesTerminals } })
    }

    @Test(
        "Absurd numbers do no harm",
        arguments: [(Int.max, 1e308), (Int.min, -1e308), (0, Double.nan), (-1, .infinity)])
    func extremes(_ whole: Int, _ part: Double) {
        let odd = Control.Progress(
            unit: "bytes", done: whole, total: whole, fraction: part, rate: part, remaining: part)
        var all = reply([download(whole)], others: odd)
        all.jobs[0].progress = odd
        all.batches[0].progress = odd
        (all.unfinished, all.running) = (whole, whole)
        #expect(lines(all).count <= 23)
        _ = all.stillOpen
    }

    @Test("An empty page says that there is nothing to do")
    func nothing() {
        let empty = Call.Progress.Reply(batches: [], others: Sample.nothing, jobs: [], unfinished: 0, running: 0)
        #expect(lines(empty) == ["nothing to do; waiting for pictures"])
    }

    @Test("Slow work is shown per hour")
    func rates() {
        #expect(Amount.perMinute(2) == "120/min")
        #expect(Amount.perMinute(0.05) == "3.0/min")
        #expect(Amount.perMinute(0.005) == "18/h")
    }
}
