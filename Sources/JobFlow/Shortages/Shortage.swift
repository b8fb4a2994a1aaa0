import JobLedger

/// Why work waits that needs a resource, and the event that ends the wait.
package struct Shortage {
    enum Need {
        /// The place was full for a job that had written `written` bytes; `hope` describes the event.
        case room(written: Int64, hope: String)
        case mount
        case permission
        /// Only a known plugin's file is looked for.
        case plugin(isKnown: Bool)
        /// Another version of the filter.
        case replacement
        case encoder
        /// Answers from the disk to these jobs.
        case answer(Set<Int>)
        /// The sweep of an outbox at the start.
        case sweep
    }

    package var reason: String
    var need: Need

    var hope: String {
        switch need {
        case .room(_, let hope): hope
        case .mount: "it is mounted"
        case .permission: "it can be written"
        case .plugin(isKnown: true): "its plugin is back, or `pipectl reload` finds it"
        case .plugin(isKnown: false), .encoder: "`pipectl reload` finds it"
        case .replacement: "another version of it is loaded (`pipectl reload`)"
        case .answer, .sweep: "it answers"
        }
    }

    /// Reports that the resource is available again.
    func farewell(_ resource: Resource) -> String {
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
