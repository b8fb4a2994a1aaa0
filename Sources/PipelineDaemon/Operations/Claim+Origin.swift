import InboxWatching

extension Claim {
    var origin: JobRecord.Origin { isKept ? .kept : .claimed }
}
