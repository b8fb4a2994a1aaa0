import Foundation

/// A folder's name that nobody else has chosen.
package enum UUIDName {
    package static func make() -> String { UUID().uuidString.lowercased() }
}
