/// The page docs/benchmarks.md.
struct Page {
    var report: Report
    var goals: [Goal]
    /// The section that `./run bench fleet` writes.
    var fleet: String

    var text: String {
        """
        # Benchmarks

        What a picture costs through pipelined, and through the other ways to the same result. `./run bench` measures all of it in one run, and
        writes this page; `./run bench --quick` takes three minutes, `--only NAME,…` measures a part; neither writes anything. `./run bench --compare
        REVISION` says what has become slower since then. `./run bench fleet` measures a fleet, and writes the last section.

        ![Processor time a picture](pictures/benchmarks.svg)

        ## Where pipelined is first, and where it is not

        \(Standing.table(report.results).markdown)
        ## How it is measured

        - Pictures are made from one photograph (CC0, from the Debian package `lomiri-wallpapers-16.04`), by crops and noise that are the same each
          time: JPEGs of quality 85, 4:2:0, with about 1.35 bits a pixel. Results are JPEGs, or WebPs, of quality 85. Noir is the same table of Rec. 601 luma for
          everyone. GraphicsMagick has no tables; its `-level` costs as little.
        - pipelined is measured as a whole, with its defaults, from the renames into the inbox until the results are published and the originals
          archived, with every fsync and the ledger. Nobody else writes durably, or has a queue, a sandbox, or a second process to hand work to.
        - The floor is a program in C that does nothing but one job with the same codecs. Half-size noir: libjpeg decodes luma at 1/2, a table,
          libjpeg encodes. To WebP: TurboJPEG decodes planes at 1/2, five samples become four by area, libwebp encodes.
        - Libraries work in processes that stay, as many as there are processors, each over its share of the pictures, and have met a picture before
          the first round. Command line tools are started for each picture, as many at once as there are processors; `vipsthumbnail + vips` takes three
          processes for noir. Each process has one thread (`VIPS_CONCURRENCY=1`, `MAGICK_THREAD_LIMIT=1`).
        - Who enlarges or shrinks does it by its own default: Lanczos (libvips, ImageMagick, GraphicsMagick), bicubic (Pillow), area (OpenCV).
        - Nothing is deleted before all is measured: on an ext4 without a journal, whoever makes a file pays for those that were deleted in the minutes
          before. So two runs should be minutes apart.
        - How near the fast ways are to libvips' plain way is the least of all pictures: luma as PNGs, without noir's contrast; colours as JPEGs
          of quality 100.
        - CPU is that of all processes of a contender. Peak memory is the sum of their peaks (`VmHWM`), what they share counted in each; of a command
          line tool, the largest process as often as it runs at once. Contenders take turns, round by round; a figure is the median of
          \(report.rounds) rounds, with the least and the most. A ratio is the median of the rounds' ratios.

        \(report.machine.lines.map { "- \($0)\n" }.joined())
        ## Goals

        \(Goal.table(goals).markdown)
        \(missed)
        \(report.results.map { "## \($0.job.title)\n\n\($0.table.markdown)" }.joined(separator: "\n"))
        \(oneFile)
        \(fleet)
        """
    }

    private var missed: String {
        let missed = goals.filter { $0.holds == false }.map { $0.text + ($0.hindrance.map { " (\($0))" } ?? "") }
        return missed.isEmpty
            ? "All of them hold.\n" : "Not reached: \(missed.joined(separator: "; ")).\n"
    }

    private var oneFile: String {
        guard let table = report.singles.oneFile?.table else { return "" }
        return """
            ## One file

            \(table.markdown)
            The render is told by the daemon itself (`pipectl show`). The fsyncs are the five that lie between the renames, for the claim, the
            job's row, the result, its folder and the intent; they are measured by doing the same beside it.

            """
    }
}
