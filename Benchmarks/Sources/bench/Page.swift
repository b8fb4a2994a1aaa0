/// The page docs/benchmarks.md, and its tables.
struct Page {
    var report: Report
    var goals: [Goal]
    /// The section that `./run bench fleet` writes.
    var fleet: String

    var text: String {
        """
        # Benchmarks

        What a picture costs through pipelined, and through other ways to the same result. `./run bench` measures all of it in one run, and writes
        this page and [its tables](benchmark-tables.md), which also say how it is measured. `./run bench --quick` measures less of it, and `--only NAME,…`
        a part, such as `--only filters`; neither writes anything. `./run bench --compare REVISION` says what has become slower since that revision.
        `./run bench fleet` measures a fleet, and writes the last section.

        ![Processor time a picture](pictures/benchmarks.svg)

        ## Where pipelined is first, and where it is not

        \(Standing.table(report.results).markdown)
        ## Goals

        \(Goal.table(goals).markdown)
        \(missed)
        \(fleet)
        """
    }

    /// The page docs/benchmark-tables.md.
    var tables: String {
        """
        # The tables of the benchmarks

        `./run bench` writes this page. [Benchmarks](benchmarks.md) has the summary.

        ## How it is measured

        - The pictures are crops of one photograph (CC0, from the Debian package `lomiri-wallpapers-16.04`), with noise. They are the same each time:
          JPEGs of quality 85, 4:2:0, with about 1.35 bits a pixel. The results are JPEGs or WebPs of quality 85. Noir is the same table of Rec. 601
          luma for every contender. GraphicsMagick has no tables; its `-level` costs as little.
        - pipelined is measured as a whole, with its defaults, from the renames into the inbox until the results are published and the originals
          archived, with every fsync and the ledger. No other contender writes durably, or has a queue, a sandbox, or a second process.
        - The floor is a program in C that does nothing but one job with the same codecs. Half-size noir: libjpeg decodes luma at 1/2, a table,
          libjpeg encodes. To WebP: TurboJPEG decodes planes at 1/2, five samples become four by area, libwebp encodes.
        - Libraries work in processes that stay, one for each processor, each with its share of the pictures. Each process has rendered a picture
          before the first round. Command line tools are started for each picture, as many at once as there are processors; `vipsthumbnail + vips`
          takes three processes for noir. Each process has one thread (`VIPS_CONCURRENCY=1`, `MAGICK_THREAD_LIMIT=1`).
        - With another filter than noir, OpenCV does what the filter does by default, as a user of OpenCV and numpy writes it for 8 bits; what depends
          on the picture's size alone is made once. `pipelined, without the filter` is the same fit without it.
        - No library here keeps a gain map. `pipelined, hdr=drop` makes the same pictures without it.
        - Each contender resizes by its own default: Lanczos (libvips, ImageMagick, GraphicsMagick), bicubic (Pillow), area (OpenCV).
        - Nothing is deleted before the last measurement, because an ext4 without a journal charges the next new files for files that were deleted
          in the minutes before. So two runs should be minutes apart.
        - The likeness of the fast ways to libvips' plain way is that of the least similar picture: luma as PNGs, without noir's contrast; colours
          as JPEGs of quality 100.
        - CPU is the time of all processes of a contender. Peak memory is the sum of their peaks (`VmHWM`), with shared memory counted in each; for a
          command line tool, it is the largest process times the number that run at once. Contenders take turns, round by round. A figure is the
          median of \(report.rounds) rounds, with the least and the most. A ratio is the median of the rounds' ratios.

        \(report.machine.lines.map { "- \($0)\n" }.joined())
        \(report.results.map { "## \($0.job.title)\n\n\($0.table.markdown)" }.joined(separator: "\n"))
        \(oneFile)
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
            The daemon itself reports the time of the render (`pipectl show`). Five fsyncs lie between the renames: of the claim, the job's row, the
            result, its folder and the intent. They are measured by doing the same beside the daemon.

            """
    }
}
