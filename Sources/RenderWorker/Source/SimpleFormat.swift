/// Recognises simple formats that the worker does not read, because libvips has no loader for them or marks the loader
/// as untrusted. People drop such files, so the failure's message names the format.
enum SimpleFormat {
    static func name(_ prefix: [UInt8], end: (_ count: Int) -> [UInt8]) -> String? {
        netpbm(prefix) ?? (isTGA(prefix, end) ? "TGA" : nil)
    }

    private static func netpbm(_ bytes: [UInt8]) -> String? {
        let names: [Character: String] = [
            "1": "PBM", "2": "PGM", "3": "PPM", "4": "PBM", "5": "PGM", "6": "PPM", "7": "PAM", "F": "PFM", "f": "PFM",
        ]
        guard bytes.count > 3, bytes[0] == UInt8(ascii: "P"), Self.isSpace(bytes[2]),
            let name = names[Character(UnicodeScalar(bytes[1]))]
        else { return nil }
        // In a PAM, words follow the signature. In the other formats, a number or a comment follows.
        let next = bytes.dropFirst(2).drop(while: isSpace).first.map { Character(UnicodeScalar($0)) }
        return name == "PAM" || next?.isNumber == true || next == "#" ? name : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    /// A TGA has a signature at its end. Older files lack the signature, so every field of their header must be
    /// plausible.
    private static func isTGA(_ bytes: [UInt8], _ end: (Int) -> [UInt8]) -> Bool {
        if end(18).starts(with: "TRUEVISION-XFILE".utf8) { return true }
        guard bytes.count >= 18 else { return false }
        let hasColours = bytes[1] == 1 && [1, 9].contains(bytes[2]) && [15, 16, 24, 32].contains(bytes[7])
        let hasNone = bytes[1] == 0 && [2, 3, 10, 11].contains(bytes[2]) && bytes[3...7].allSatisfy { $0 == 0 }
        let (width, height) = (Int(bytes[12]) | Int(bytes[13]) << 8, Int(bytes[14]) | Int(bytes[15]) << 8)
        return (hasColours || hasNone) && width > 0 && height > 0 && [8, 15, 16, 24, 32].contains(bytes[16])
            && bytes[17] & 0xc0 == 0
    }
}
