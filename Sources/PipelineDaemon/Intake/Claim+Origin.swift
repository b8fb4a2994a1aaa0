import InboxWatching
import JobLedger

extension Claim {
    var origin: JobRecord.Origin { isKept ? .kept : .claimed }
}
