/// The options on the command line.
struct Options {
    var quick = false
    var rounds: Int
    /// Names of the measurements to run: jobs, and measurements of pipelined alone. Empty means all.
    var only: [String] = []
    /// The number of jobs to queue. If it is given, only the queue is measured.
    var queue: Int?
    /// Measures only a fleet.
    var fleet = false
    var json: String?
    /// The folder to which a run of all measurements writes its page and chart.
    var docs: String
    /// Another build of pipelined to compare with: a name for it, and the folder of its programs.
    var other: (name: String, programs: String)?
    var setup: Setup

    init(_ words: [String]) throws {
        var given: [String: String] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--quick": quick = true
            case "--fleet": fleet = true
            case "--only": only += try Self.value(&rest, of: word).split(separator: ",").map(String.init)
            case "--compare": other = (try Self.value(&rest, of: word), try Self.value(&rest, of: word))
            case "--queue":
                guard let count = Int(try Self.value(&rest, of: word)), count > 0 else {
                    throw BenchError("--queue wants how many jobs")
                }
                queue = count
            case "--rounds", "--json", "--docs", "--programs", "--python", "--peers", "--photograph", "--cache",
                "--nats-server":
                given[word] = try Self.value(&rest, of: word)
            default:
                throw BenchError(
                    "bench does not know '\(word)'; it knows --quick, --only NAME,…, --rounds N, --json FILE")
            }
        }
        json = given["--json"]
        rounds = given["--rounds"].flatMap { Int($0) } ?? (quick ? 3 : 5)
        func needed(_ name: String) throws -> String {
            guard let value = given[name] else { throw BenchError("\(name) is missing; begin it by ./run bench") }
            return value
        }
        docs = try needed("--docs")
        setup = Setup(
            programs: try needed("--programs"), python: try needed("--python"), peers: try needed("--peers"),
            photograph: try needed("--photograph"), cache: try needed("--cache"),
            natsServer: given["--nats-server"])
        if let place = only.firstIndex(of: "filters") {
            only.replaceSubrange(place...place, with: Job.filters.map(\.name))
        }
        let names = Job.all.map(\.name) + Singles.names
        for name in only where !names.contains(name) {
            throw BenchError("nothing is called '\(name)'; there are: \(names.joined(separator: " "))")
        }
    }

    var isWhole: Bool { !quick && only.isEmpty && queue == nil && !fleet && other == nil }

    func asks(for name: String) -> Bool { only.isEmpty || only.contains(name) }

    private static func value(_ rest: inout ArraySlice<String>, of word: String) throws -> String {
        guard let value = rest.popFirst() else { throw BenchError("\(word) wants a value") }
        return value
    }
}
