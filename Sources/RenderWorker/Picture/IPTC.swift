/// IPTC is a list of data sets. Each has a marker byte, the numbers of its record and data set, a length, and a value.
enum IPTC {
    /// Data sets of record 2 that name places: location codes and names, city, part of a city, state, and country.
    private static let places: Set<UInt8> = [26, 27, 90, 92, 95, 100, 101]
    private static let sign: UInt8 = 0x1c

    static func isList(_ bytes: [UInt8]) -> Bool { bytes.first == sign }

    /// The complete data sets of a list, except those that name a place. Bytes after the list are dropped.
    static func withoutPlace(_ bytes: [UInt8]) -> [UInt8] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        var (result, at) = ([UInt8](), 0)
        while at + 5 <= bytes.count, bytes[at] == sign {
            var (length, head) = (form.number(bytes[at + 3..<at + 5]), 5)
            if length & 0x8000 != 0 {
                // If the high bit is set, the other bits give the size of the real length, which follows.
                let count = length & 0x7fff
                guard (1...4).contains(count), at + head + count <= bytes.count else { break }
                length = form.number(bytes[at + head..<at + head + count])
                head += count
            }
            guard length <= bytes.count - at - head else { break }
            let end = at + head + length
            if !(bytes[at + 1] == 2 && places.contains(bytes[at + 2])) { result += bytes[at..<end] }
            at = end
        }
        return result
    }
}
