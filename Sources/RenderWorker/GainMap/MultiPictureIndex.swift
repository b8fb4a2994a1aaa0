/// The index of CIPA DC-007 (MPF), in which a JPEG lists the pictures of its file.
struct MultiPictureIndex {
    static let prefix = Array("MPF\0".utf8)

    /// The position of each picture, in bytes from the index's own TIFF header. The first picture is the file's main
    /// picture.
    private(set) var pictures: [(start: Int, length: Int)] = []

    private static let (countTag, listTag) = (0xb001, 0xb002)
    private static let entrySize = 16
    /// Limit on pictures, far above their number in a real file.
    private static let most = 32

    /// Reads the content of a marker, without the marker's prefix. Nil if the content is not an index.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let directory = TIFFDirectory(in: bytes),
            let list = directory.value(Self.listTag, most: Self.most * Self.entrySize)
        else { return nil }
        let form = directory.form
        for at in stride(from: 0, through: list.count - Self.entrySize, by: Self.entrySize) {
            pictures.append((form.number(list[at + 8..<at + 12]), form.number(list[at + 4..<at + 8])))
        }
    }

    /// Makes the whole marker for a file of two pictures. `start` is the offset of the marker in the file. `first` is
    /// the length of the first picture including this marker, and `second` is the length of the second picture.
    static func marker(at start: Int, first: Int, second: Int) -> [UInt8] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        func entry(_ tag: Int, type: Int, count: Int, _ value: [UInt8]) -> [UInt8] {
            form.bytes(tag, 2) + form.bytes(type, 2) + form.bytes(count, 4) + value
        }
        func picture(kind: Int, _ length: Int, _ start: Int) -> [UInt8] {
            form.bytes(kind, 4) + form.bytes(length, 4) + form.bytes(start, 4) + [0, 0, 0, 0]
        }
        let header = 4 + prefix.count
        let list = 8 + 2 + 3 * 12 + 4
        let content =
            Array("MM\0*".utf8) + form.bytes(8, 4) + form.bytes(3, 2)
            + entry(0xb000, type: 7, count: 4, Array("0100".utf8))
            + entry(countTag, type: 4, count: 1, form.bytes(2, 4))
            + entry(listTag, type: 7, count: 2 * entrySize, form.bytes(list, 4)) + form.bytes(0, 4)
            // 0x30000 is MPF's type for the main picture. Type 0 leaves the other picture's kind undefined.
            + picture(kind: 0x30000, first, 0) + picture(kind: 0, second, first - start - header)
        return [0xff, 0xe2] + form.bytes(2 + prefix.count + content.count, 2) + prefix + content
    }

    /// The length of `marker`.
    static let length = marker(at: 0, first: 0, second: 0).count
}
