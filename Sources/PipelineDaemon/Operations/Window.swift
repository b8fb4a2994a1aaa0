import DaemonRuntime
import JobLedger

/// The jobs that have operations, counted by the queue that they began in.
@Coordination
struct Window {
    private var jobs: [Int: Job] = [:]
    private var counts: [Entry: Int] = [:]

    subscript(id: Int) -> Job? {
        get { jobs[id] }
        set {
            if let former = jobs[id] { counts[former.entry, default: 0] -= 1 }
            if let newValue { counts[newValue.entry, default: 0] += 1 }
            jobs[id] = newValue
        }
    }

    var ids: [Int] { Array(jobs.keys) }
    var all: some Collection<Job> { jobs.values }
    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count }

    func count(_ entry: Entry) -> Int { counts[entry] ?? 0 }
}
