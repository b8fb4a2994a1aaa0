/// What was asked on the command line.
struct Options {
    var quick = false
    var rounds: Int
    /// What is measured, by name: jobs, and what else there is; everything when empty.
    var only: [String] = []
    /// How many jobs: the queue alone is measured.
    var queue: Int?
    /// A fleet alone is measured.
    var fleet = false
    var json: String?
    /// Where page and chart are written, of a whole run.
    var docs: String
    /// A name for other programs of pipelined, and their folder.
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
