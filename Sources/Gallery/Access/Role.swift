/// The permissions of a program with a token. Each role includes the roles before it.
enum Role: String, Codable, CaseIterable, Comparable, Sendable {
    /// Read jobs, pictures and events.
    case look
    /// Also add pictures, and try chains on them.
    case add
    /// Also cancel, retry, redo and undo jobs, pause and limit queues, and make and remove recipes, as a person on the
    /// page may.
    case steer

    static func < (one: Role, other: Role) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .look: 0
        case .add: 1
        case .steer: 2
        }
    }
}
