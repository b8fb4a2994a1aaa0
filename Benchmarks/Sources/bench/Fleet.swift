import Foundation

/// Measures a fleet's gain and cost, with real daemons that meet at a real server. All of them share this machine.
struct Fleet {
    var setup: Setup
    var rounds: Int
    var isQuick: Bool

    private static let places = 4

    func run() throws -> FleetReport {
        let filter = "\(setup.work)/waits.so"
        try compile(to: filter)
        let jobs = isQuick ? Job.lent.map { $0.times(0.5) } : Job.lent
        let race = Race(setup: setup, rounds: rounds, progress: Progress(total: (rounds + 1) * (2 + 4 * jobs.count)))
        let growth = try race.run(Job.waiting(isQuick ? 60 : 240), growth(filter))
        let costs = try jobs.map { try race.run($0, cost(filter)) }
        let choices = try jobs.map { try race.run($0, choice()) }
        Progress.end()
        return FleetReport(growth: growth, costs: costs, choices: choices, rounds: rounds)
    }

    private func growth(_ filter: String) -> [any Contender] {
        [1, 3].map { count in
            FleetContender(
                FleetReport.nodes(count), .init(nodes: count, places: Self.places), filters: [filter],
                chain: "waits | save format=jpeg quality=85")
        }
    }

    private func cost(_ filter: String) -> [any Contender] {
        let places = Setup.processors
        return [
            FleetContender(FleetReport.home, .init(places: places)),
            FleetContender(
                FleetReport.lent, .init(nodes: 2, places: places, firstPlaces: 1, isFull: true), filters: [filter]),
        ]
    }

    private func choice() -> [any Contender] {
        ["never", "auto"].map { FleetContender($0, .init(nodes: 2, places: Self.places, give: $0)) }
    }

    private func compile(to path: String) throws {
        let command = #"""
            exec clang -w -fPIC -shared -o "$1" -I "$2" "$3" $(pkg-config --cflags --libs vips)
            """#
        let contract = "\(setup.peers)/../../Sources/CPipelinePlugin"
        _ = try ChildProcess.output(["/bin/sh", "-c", command, "sh", path, contract, "\(setup.peers)/waits.c"])
    }
}

extension Job {
    /// Jobs to lend: a cheap one, a more expensive one, and an expensive one.
    static let lent: [Job] = {
        var (three, avif) = (fit([1600, 1024, 640], isNoir: false), fit([1600], isNoir: false))
        (avif.name, avif.title) = ("fit-1600-to-avif", "Fit to 1600, colour, to AVIF: JPEG, 12 megapixels")
        (avif.format, avif.count) = ("avif", 16)
        three.count = 60
        return [halfNoir, three, avif]
    }()

    static func waiting(_ count: Int) -> Job {
        var job = smallFiles
        (job.name, job.title, job.count) = ("waits", "A filter that waits for a second", count)
        return job
    }

    func times(_ factor: Double) -> Job {
        var job = self
        job.count = max(1, Int(Double(count) * factor))
        return job
    }
}
