/// IPTC is a list of data sets. Each has a marker byte, the numbers of its record and data set, a length, and a value.
enum IPTC {
    /// Data sets of record 2 that name places: location codes and names, city, part of a city, state, and country.
    private static let places: Set<UInt8> = [26, 27, 90, 92, 95, 100, 101]
    private static let sign: UInt8 = 0x1c
    /// The value of data set 1:90 that declares all texts to be UTF-8.
    private static let utf8Mark: [UInt8] = [0x1b, 0x25, 0x47]
    /// Data sets of record 2 that hold no text: version, rasterised caption, and the preview's format, version and
    /// data.
    private static let binary: Set<UInt8> = [0, 125, 200, 201, 202]

    private struct DataSet {
        var record: UInt8
        var number: UInt8
        /// The whole data set, including its header.
        var bytes: ArraySlice<UInt8>
        var value: ArraySlice<UInt8>
    }

    static func isList(_ bytes: [UInt8]) -> Bool { bytes.first == sign }

    /// The complete data sets of a list, except those that name a place. Bytes after the list are dropped.
    static func withoutPlace(_ bytes: [UInt8]) -> [UInt8] {
        sets(bytes).filter { !($0.record == 2 && places.contains($0.number)) }.flatMap(\.bytes)
    }

    /// All texts of a repeatable data set of record 2. A text that is not UTF-8 is taken for Latin-1.
    static func texts(_ number: UInt8, in bytes: [UInt8]) -> [String] {
        sets(bytes).filter { $0.record == 2 && $0.number == number }.map { set in
            String(validating: set.value, as: UTF8.self)
                ?? String(String.UnicodeScalarView(set.value.map { Unicode.Scalar($0) }))
        }
    }

    /// Keeps only the data sets of record 2 that `numbers` contains, and the mark of their encoding. Empty if no such
    /// data set is left.
    static func keeping(_ numbers: Set<UInt8>, of bytes: [UInt8]) -> [UInt8] {
        let kept = sets(bytes).filter {
            $0.record == 1 && $0.number == 90 || $0.record == 2 && numbers.contains($0.number)
        }
        return kept.contains { $0.record == 2 && $0.number != 0 } ? kept.flatMap(\.bytes) : []
    }

    /// Sets `texts`, which has data set numbers as keys, in record 2, and marks the list as UTF-8. If the list was not
    /// marked as UTF-8, converts its other texts from Latin-1, except texts that are valid UTF-8.
    static func setting(_ texts: [UInt8: String], in bytes: [UInt8]) -> [UInt8] {
        let sets = sets(bytes)
        let isUTF8 = sets.contains { $0.record == 1 && $0.number == 90 && $0.value.elementsEqual(utf8Mark) }
        let kept = sets.filter { !($0.record == 1 && $0.number == 90 || $0.record == 2 && texts[$0.number] != nil) }
        func written(_ record: (DataSet) -> Bool) -> [UInt8] {
            kept.filter(record).flatMap { $0.record == 2 && !isUTF8 ? inUTF8($0) : Array($0.bytes) }
        }
        let isVersioned = kept.contains { $0.record == 2 && $0.number == 0 }
        let added = texts.sorted { $0.key < $1.key }.flatMap { set(2, $0.key, Array($0.value.utf8)) }
        return set(1, 90, utf8Mark) + written { $0.record < 2 } + (isVersioned ? [] : set(2, 0, [0, 4]))
            + written { $0.record == 2 } + added + written { $0.record > 2 }
    }

    /// A text of record 2, which is taken for Latin-1 if it is not UTF-8.
    static func text(_ number: UInt8, in bytes: [UInt8]) -> String? {
        guard let value = sets(bytes).first(where: { $0.record == 2 && $0.number == number })?.value else { return nil }
        return String(validating: value, as: UTF8.self)
            ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
    }

    private static func inUTF8(_ set: DataSet) -> [UInt8] {
        guard !binary.contains(set.number), set.value.contains(where: { $0 > 0x7f }),
            String(validating: set.value, as: UTF8.self) == nil
        else { return Array(set.bytes) }
        let text = String(String.UnicodeScalarView(set.value.map { Unicode.Scalar($0) }))
        return self.set(set.record, set.number, Array(text.utf8))
    }

    private static func set(_ record: UInt8, _ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        let length =
            value.count > 0x7fff ? form.bytes(0x8004, 2) + form.bytes(value.count, 4) : form.bytes(value.count, 2)
        return [sign, record, number] + length + value
    }

    /// The complete data sets of a list. Bytes after the list are left out.
    private static func sets(_ bytes: [UInt8]) -> [DataSet] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        var (result, at) = ([DataSet](), 0)
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
            result.append(
                DataSet(
                    record: bytes[at + 1], number: bytes[at + 2], bytes: bytes[at..<end],
                    value: bytes[at + head..<end]))
            at = end
        }
        return result
    }
}
