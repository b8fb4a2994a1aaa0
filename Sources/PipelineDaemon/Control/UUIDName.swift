import Foundation

/// A folder's name that nobody else has chosen.
enum UUIDName {
    static func make() -> String { UUID().uuidString.lowercased() }
}
