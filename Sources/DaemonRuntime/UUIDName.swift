import Foundation

/// Makes names of folders that nobody else has chosen.
package enum UUIDName {
    package static func make() -> String { UUID().uuidString.lowercased() }

    /// Such a name, which follows those that were made before it: an index of a million of them grows at its end.
    package static func makeNext() -> String {
        let time = String(UInt64(Timestamp.now() * 1e6), radix: 16)
        let (high, low) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return "\(time)-\(String(high, radix: 16))\(String(low, radix: 16))"
    }
}
