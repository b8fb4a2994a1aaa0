/// Races a job's contenders against each other, in rounds, each contender in turn.
struct Race {
    var setup: Setup
    var rounds: Int
    var progress: Progress

    static func contenders(for job: Job, _ setup: Setup) -> [any Contender] {
        let format = job.pictures.suffix
        var contenders: [any Contender] = [DaemonContender("pipelined", setup.programs)]
        if job.name == Job.burst.name { return contenders + [PeerContender.floor("noir")] }
        if job.name == Job.gainMap.name {
            return contenders + [DaemonContender("pipelined, hdr=drop", setup.programs, of: job.withoutGainMap)]
        }
        if job.isOfFilter {
            return contenders + [
                PeerContender("OpenCV, reduced", library: "opencv"),
                DaemonContender("pipelined, without the filter", setup.programs, of: Job.fit([1600], isNoir: false)),
            ]
        }
        if format == "jpg", job.isHalfNoir { contenders.append(PeerContender.floor("noir")) }
        if job.name == Job.toWebP.name { contenders.append(PeerContender.floor("webp")) }
        contenders.append(PeerContender("pyvips, thumbnail", library: "pyvips-thumbnail"))
        if ["jpg", "webp"].contains(format) {
            contenders.append(PeerContender("pyvips, shrink-on-load", library: "pyvips-shrink"))
        }
        if format != "heic" {
            contenders.append(PeerContender("Pillow, draft", library: "pillow"))
            contenders.append(PeerContender("OpenCV, reduced", library: "opencv"))
        }
        contenders.append(CommandContender.vips)
        let hints = format == "jpg" ? [false, true] : [false]
        contenders += hints.map { CommandContender.imageMagick(hint: $0) }
        contenders += hints.map { CommandContender.graphicsMagick(hint: $0) }
        return contenders
    }

    func run(_ job: Job, _ contenders: [any Contender]) throws -> JobResult {
        defer { for contender in contenders { contender.end() } }
        Progress.begin(job.title)
        for (index, contender) in contenders.enumerated() {
            try contender.begin(job, in: "\(setup.work)/\(job.name)-\(index)", setup)
        }
        var series = contenders.map { Series(name: $0.name) }
        // Contenders that stay have a warm-up round, which is not counted. Every other round goes backwards, so that no
        // contender always follows the same one.
        for round in 0...rounds {
            let order = contenders.indices.sorted { round.isMultiple(of: 2) ? $0 < $1 : $0 > $1 }
            for index in order where round > 0 || contenders[index].stays {
                let contender = contenders[index]
                progress.show("\(job.title): \(contender.name)")
                let sample = try contender.round()
                if round > 0 { series[index].samples.append(sample) }
                progress.step()
            }
        }
        return JobResult(job: job, series: series)
    }
}
