package import InboxWatching
package import JobLedger

extension Claim {
    package var origin: JobRecord.Origin { isKept ? .kept : .claimed }
}
