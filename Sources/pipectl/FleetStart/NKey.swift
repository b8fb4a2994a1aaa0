/// Ed25519 keys in NATS's encoding: base 32, with the kind of key at the beginning and a checksum at the end.
enum NKey {
    /// The kind of the key's owner. The encoded key begins with a letter for this kind. The raw value is that letter's
    /// value as a base-32 digit.
    enum Kind: UInt8 {
        case `operator` = 14
        case account = 0
        case user = 20

        fileprivate var first: UInt8 { rawValue << 3 }
    }

    private static let seed: UInt8 = 18
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func publicKey(_ kind: Kind, _ key: [UInt8]) -> String { text([kind.first] + key) }

    static func seed(_ kind: Kind, _ key: [UInt8]) -> String {
        text([seed << 3 | kind.first >> 5, (kind.first & 31) << 3] + key)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let sum = checksum(bytes)
        return base32(bytes + [UInt8(truncatingIfNeeded: sum), UInt8(sum >> 8)])
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
    }

    private static func base32(_ bytes: [UInt8]) -> String {
        var (text, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
            bits &= 31
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
