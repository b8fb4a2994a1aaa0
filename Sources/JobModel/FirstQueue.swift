/// The queue in which a job starts. Each queue has its own window of loaded jobs, so that slow downloads don't delay
/// pictures that need no download.
package enum FirstQueue: String, CaseIterable, Sendable {
    case download, render
}
