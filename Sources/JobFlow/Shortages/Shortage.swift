import JobLedger

/// Why a resource is missing, and what must happen before the work that needs it can continue.
package struct Shortage {
    enum Need {
        /// The resource must have room again. It was too full for a job that had written `written` bytes. `awaited`
        /// completes the message "its work goes on when …".
        case room(written: Int64, awaited: String)
        case mount
        case permission
        /// The filter's plugin must be loaded. `isKnown` says whether the configuration in force knows the filter. The
        /// daemon looks for a new plugin file only if it knows the filter.
        case plugin(isKnown: Bool)
        /// Another version of the filter must be loaded.
        case replacement
        case encoder
        /// The disk must answer the calls of these jobs.
        case answer(Set<Int>)
        /// The daemon must sweep the outbox, because the outbox's disk did not answer at the start.
        case sweep
    }

    package var reason: String
    var need: Need

    var awaited: String {
        switch need {
        case .room(_, let awaited): awaited
        case .mount: "it is mounted"
        case .permission: "it can be written"
        case .plugin(isKnown: true): "its plugin is back, or `pipectl reload` finds it"
        case .plugin(isKnown: false), .encoder: "`pipectl reload` finds it"
        case .replacement: "another version of it is loaded (`pipectl reload`)"
        case .answer, .sweep: "it answers"
        }
    }

    /// Returns the log message for the moment when the resource is available again.
    func endMessage(_ resource: Resource) -> String {
        switch need {
        case .room: "there is room in \(resource) again"
        case .mount: "\(resource) is mounted again"
        case .permission: "\(resource) can be written again"
        case .plugin, .encoder: "\(resource) is there again"
        case .replacement: "\(resource) was loaded anew"
        case .answer, .sweep: "\(resource) answers again"
        }
    }
}
