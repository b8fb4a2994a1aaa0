import Foundation

/// Makes names of folders that nobody else has chosen.
package enum UUIDName {
    package static func make() -> String { UUID().uuidString.lowercased() }
}
