import Glibc
import Synchronization

public struct User: Sendable {
    public let name: String
    public let number: UInt32
    public let group: UInt32

    /// Nil when no user has this name.
    public init?(named name: String) {
        guard let user = entry(passwd(), { getpwnam_r(name, $0, $1, $2, &$3) }, as: User.init) else { return nil }
        self = user
    }

    /// Nil when no user has this number.
    public init?(_ number: UInt32) {
        guard let user = entry(passwd(), { getpwuid_r(number, $0, $1, $2, &$3) }, as: User.init) else { return nil }
        self = user
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        number = entry.pw_uid
        group = entry.pw_gid
    }

    public static let current = name(geteuid())

    /// The user's name, or the number itself if no user has it.
    public static func name(_ number: UInt32) -> String { User(number)?.name ?? "\(number)" }
}

/// Remembers users' names, because a lookup in a directory service may take long. Any thread may use it.
public final class UserNames: Sendable {
    /// Maximum number of remembered names. When the cache is full, adding a name clears it first.
    private static let most = 1000

    private let known = Mutex<[UInt32: String]>([:])

    public init() {}

    public func name(_ number: UInt32) -> String {
        if let name = known.withLock({ $0[number] }) { return name }
        let name = User.name(number)
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[number] = name
        }
        return name
    }
}

public struct Group: Sendable {
    public let name: String
    /// Whether the group's entry lists members. The entry may omit users who have this group as their primary group.
    public let hasMembers: Bool

    public let number: UInt32

    /// Nil when no group has this name.
    public init?(named name: String) {
        guard let group = entry(group(), { getgrnam_r(name, $0, $1, $2, &$3) }, as: Group.init) else { return nil }
        self = group
    }

    /// Nil when no group has this number.
    public init?(_ number: UInt32) {
        guard let group = entry(group(), { getgrgid_r(number, $0, $1, $2, &$3) }, as: Group.init) else { return nil }
        self = group
    }

    private init(_ entry: group) {
        name = String(cString: entry.gr_name)
        number = entry.gr_gid
        hasMembers = entry.gr_mem.pointee != nil
    }

    /// The group's name, or the number itself if no group has it.
    public static func name(_ number: UInt32) -> String { Group(number)?.name ?? "\(number)" }
}

/// Looks up an entry with a buffer of its own. `getpwuid` and `getgrgid` would share one buffer between all threads.
private func entry<Entry, Value>(
    _ empty: Entry,
    _ look: (
        UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int, inout UnsafeMutablePointer<Entry>?
    ) -> Int32,
    as read: (Entry) -> Value
) -> Value? {
    var entry = empty
    var texts = [CChar](repeating: 0, count: 1024)
    while true {
        var value: Value?
        let error = withUnsafeMutablePointer(to: &entry) { entry in
            texts.withUnsafeMutableBufferPointer { texts in
                guard let start = texts.baseAddress else { return EINVAL }
                var found: UnsafeMutablePointer<Entry>?
                let error = look(entry, start, texts.count, &found)
                value = found.map { read($0.pointee) }
                return error
            }
        }
        switch error {
        case ERANGE: texts = [CChar](repeating: 0, count: 2 * texts.count)
        case EINTR: continue
        default: return value
        }
    }
}
