package import InboxWatching
package import JobModel

extension Claim {
    package var origin: JobRecord.Origin { isKept ? .kept : .claimed }
}
