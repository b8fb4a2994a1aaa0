import Foundation

/// Makes unique names for folders.
package enum UUIDName {
    package static func make() -> String { UUID().uuidString.lowercased() }

    /// Makes a unique name that sorts after earlier names, so that a large index of names grows only at its end.
    package static func makeNext() -> String {
        let time = String(UInt64(Timestamp.now() * 1e6), radix: 16)
        let (high, low) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return "\(time)-\(String(high, radix: 16))\(String(low, radix: 16))"
    }
}
