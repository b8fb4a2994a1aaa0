/// A directory of a TIFF: tags, and the positions of their values. EXIF has the same layout.
struct TIFFDirectory {
    struct Entry {
        var type: Int
        var count: Int
        /// The position of the value, in bytes from the TIFF's start.
        var offset: Int
        var isInline: Bool
    }

    typealias Reader = (_ offset: Int, _ count: Int) -> [UInt8]?

    /// Numbers that mark a TIFF or a BigTIFF. Panasonic and Olympus use their own numbers with the same layout.
    private static let heads: Set = [42, 43, 0x55, 0x4f52, 0x5352]

    let form: TIFFForm
    private let read: Reader
    private(set) var entries: [Int: Entry] = [:]
    /// The position of the next directory; 0 if this is the last directory.
    private(set) var next = 0

    /// The directory at `offset`, or the first directory if `offset` is nil. Nil when the bytes are not a TIFF.
    init?(at offset: Int? = nil, _ read: @escaping Reader) {
        guard let start = read(0, 8), start[0] == start[1] else { return nil }
        var form = TIFFForm(isBigEndian: start[0] == 0x4d, isBig: false)
        let head = form.number(start[2..<4])
        guard Self.heads.contains(head) else { return nil }
        form.isBig = head == 43
        (self.form, self.read) = (form, read)
        guard let first = offset ?? read(form.firstPlace, form.placeSize).map({ form.number($0) }),
            let count = read(first, form.countSize).map({ min(form.number($0), 65535) })
        else { return nil }
        let entries = first + form.countSize
        for index in 0..<count {
            let at = entries + form.entrySize * index
            guard let entry = read(at, form.entrySize) else { break }
            let type = form.number(entry[2..<4])
            let (count, value) = (entry[4..<4 + form.placeSize], entry.suffix(form.placeSize))
            let isInline = TIFFForm.size(of: type) * form.number(count) <= form.placeSize
            self.entries[form.number(entry[0..<2])] = Entry(
                type: type, count: form.number(count),
                offset: isInline ? at + form.entrySize - form.placeSize : form.number(value), isInline: isInline)
        }
        next = read(entries + form.entrySize * count, form.placeSize).map { form.number($0) } ?? 0
    }

    /// The first directory of a TIFF in memory.
    init?(in tiff: ArraySlice<UInt8>) {
        self.init { offset, count in
            guard offset >= 0, count >= 0, count <= tiff.count, offset <= tiff.count - count else { return nil }
            return Array(tiff.dropFirst(offset).prefix(count))
        }
    }

    /// Another directory of the same file.
    func directory(at offset: Int) -> TIFFDirectory? { TIFFDirectory(at: offset, read) }

    func has(_ tag: Int) -> Bool { entries[tag] != nil }

    /// The values of a tag; at most `most`, because the count comes from the untrusted file.
    func numbers(_ tag: Int, most: Int = 16) -> [Int] {
        guard let entry = entries[tag], [3, 4, 13, 16, 18].contains(entry.type) else { return [] }
        let size = TIFFForm.size(of: entry.type)
        let all = read(entry.offset, min(entry.count, most) * size) ?? []
        return stride(from: 0, to: all.count, by: size).map { form.number(all[$0..<$0 + size]) }
    }

    /// The last number of a tag.
    func last(_ tag: Int) -> Int? {
        guard let entry = entries[tag], [3, 4, 13, 16, 18].contains(entry.type), entry.count > 0 else { return nil }
        let size = TIFFForm.size(of: entry.type)
        return read(entry.offset + (entry.count - 1) * size, size).map { form.number($0) }
    }

    /// The bytes of a tag's value; nil if the tag is missing or the value has more than `most` bytes.
    func value(_ tag: Int, most: Int) -> [UInt8]? {
        guard let entry = entries[tag] else { return nil }
        let length = TIFFForm.size(of: entry.type) * entry.count
        return (1...most).contains(length) ? read(entry.offset, length) : nil
    }
}
