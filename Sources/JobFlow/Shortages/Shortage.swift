import JobLedger

/// Why the work that needs something waits, and what for.
package struct Shortage {
    enum Need {
        /// The place was full for a job that had written so many bytes; `hope` says what the work waits for.
        case room(written: Int64, hope: String)
        case mount
        case permission
        /// The plugin's file is looked for if it is known.
        case plugin(isKnown: Bool)
        /// Another version of a filter.
        case replacement
        case encoder
        /// The answers that these jobs wait for.
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

    /// Says of a resource that it is over.
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
