/// The first directory of a TIFF, which is also how EXIF is laid out: tags, and where their values lie.
struct TIFFDirectory {
    struct Entry {
        var type: Int
        var count: Int
        /// Where the value lies, in bytes from the TIFF's start.
        var offset: Int
    }

    typealias Reader = (_ offset: Int, _ count: Int) -> [UInt8]?

    let isBigEndian: Bool
    private let read: Reader
    private var entries: [Int: Entry] = [:]
    /// Where the next one lies; 0 behind the last.
    private(set) var next = 0

    /// The directory at `offset`, or the first one. Nil when the bytes are no classic TIFF.
    init?(at offset: Int? = nil, _ read: @escaping Reader) {
        guard let start = read(0, 8) else { return nil }
        isBigEndian = start[0] == 0x4d
        self.read = read
        let head = Self.number(start[2..<4], isBigEndian)
        let first = offset ?? Self.number(start[4..<8], isBigEndian)
        guard start[0] == start[1], head == 42, let count = read(first, 2) else { return nil }
        for index in 0..<Self.number(count[...], isBigEndian) {
            let at = first + 2 + 12 * index
            guard let entry = read(at, 12) else { break }
            let type = Self.number(entry[2..<4], isBigEndian)
            let count = Self.number(entry[4..<8], isBigEndian)
            let isInline = Self.size(of: type) * count <= 4
            entries[Self.number(entry[0..<2], isBigEndian)] = Entry(
                type: type, count: count, offset: isInline ? at + 8 : Self.number(entry[8..<12], isBigEndian))
        }
        next =
            read(first + 2 + 12 * Self.number(count[...], isBigEndian), 4).map { Self.number($0[...], isBigEndian) }
            ?? 0
    }

    /// Another directory of the same file.
    func directory(at offset: Int) -> TIFFDirectory? { TIFFDirectory(at: offset, read) }

    func has(_ tag: Int) -> Bool { entries[tag] != nil }

    /// The numbers of a tag: at most `most`, since their count is the file's own word.
    func numbers(_ tag: Int, most: Int = 16) -> [Int] {
        guard let entry = entries[tag], entry.type == 3 || entry.type == 4 || entry.type == 13 else { return [] }
        let size = Self.size(of: entry.type)
        return (0..<min(entry.count, most)).compactMap { index in
            read(entry.offset + index * size, size).map { Self.number($0[...], isBigEndian) }
        }
    }

    /// The bytes of a text, with the zero that ends it.
    func text(_ tag: Int) -> [UInt8]? {
        guard let entry = entries[tag], entry.type == 2, (1...65535).contains(entry.count) else { return nil }
        return read(entry.offset, entry.count)
    }

    private static func size(of type: Int) -> Int {
        switch type {
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        default: 1
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Int {
        isBigEndian
            ? bytes.reduce(0) { $0 << 8 | Int($1) } : bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
