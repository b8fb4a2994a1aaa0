/// EXIF consists of TIFF directories. A TIFF file has these directories among its own; other formats contain a block
/// that is a TIFF without a picture. Values are kept byte for byte.
struct EXIF {
    struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        var value: Value
    }

    enum Value {
        case bytes([UInt8])
        /// The offset of a value that is already in the file.
        case place(Int)
    }

    static let prefix = Array("Exif\0\0".utf8)
    static let (photoTag, placeTag, exchangeTag) = (0x8769, 0x8825, 0xa005)
    static let iptcTag = 0x83bb

    /// Tags of the first directory that describe the picture rather than its storage: name, maker, date, owner, and
    /// tags that Windows adds.
    private static let mainTags: Set = [
        0x000b, 0x010d, 0x010e, 0x010f, 0x0110, 0x0131, 0x0132, 0x013b, 0x013c, 0x4746, 0x4749, 0x8298, 0x9c9b, 0x9c9c,
        0x9c9d, 0x9c9e, 0x9c9f,
    ]
    private static let copyrightTags: Set = [0x013b, 0x8298]
    private static let sizeTags: Set = [0xa002, 0xa003]

    /// Maximum bytes of all values together; further values are dropped. A JPEG's block has at most 64 KB.
    private static let mostBytes = 4 << 20

    let form: TIFFForm
    var main: [Entry] = []
    var photo: [Entry] = []
    var place: [Entry] = []
    var exchange: [Entry] = []

    init(_ form: TIFFForm) { self.form = form }

    /// Nil unless the directory contains a tag of `mainTags`, a photo directory or a location.
    init?(_ directory: TIFFDirectory?) {
        guard let directory else { return nil }
        form = directory.form
        var room = Self.mostBytes
        func entries(of directory: TIFFDirectory, _ isWanted: (Int) -> Bool) -> [Entry] {
            directory.entries.keys.sorted().filter(isWanted).compactMap { tag in
                guard let entry = directory.entries[tag], let value = directory.value(tag, most: max(1, room)) else {
                    return nil
                }
                room -= value.count
                return Entry(tag: tag, type: entry.type, count: entry.count, value: .bytes(value))
            }
        }
        func below(_ tag: Int, of directory: TIFFDirectory?) -> TIFFDirectory? {
            directory?.numbers(tag).first.flatMap { directory?.directory(at: $0) }
        }
        main = entries(of: directory, Self.mainTags.contains)
        let photo = below(Self.photoTag, of: directory)
        self.photo = photo.map { entries(of: $0) { $0 != Self.exchangeTag } } ?? []
        place = below(Self.placeTag, of: directory).map { entries(of: $0) { _ in true } } ?? []
        exchange = below(Self.exchangeTag, of: photo).map { entries(of: $0) { _ in true } } ?? []
        if main.isEmpty, photo == nil, place.isEmpty { return nil }
    }

    /// Reads the EXIF block of a format other than TIFF.
    init?(block: [UInt8]) {
        self.init(TIFFDirectory(in: Self.tiff(block)))
    }

    /// Whether a block is a TIFF, even if it has none of the tags that `EXIF` keeps.
    static func isReadable(_ block: [UInt8]) -> Bool { TIFFDirectory(in: tiff(block)) != nil }

    static func tiff(_ block: [UInt8]) -> ArraySlice<UInt8> {
        block.starts(with: prefix) ? block.dropFirst(prefix.count) : block[...]
    }

    /// Artist and Copyright alone. Nil when both are missing.
    var copyright: EXIF? {
        var result = self
        result.main = main.filter { Self.copyrightTags.contains($0.tag) }
        (result.photo, result.place, result.exchange) = ([], [], [])
        return result.main.isEmpty ? nil : result
    }

    /// libvips' names of the entries in `copyright`.
    static let copyrightFields: Set = ["exif-ifd0-Artist", "exif-ifd0-Copyright"]

    /// Everything except the location. Also drops the maker notes, because they may contain the location in a
    /// proprietary form.
    var withoutPlace: EXIF {
        var result = self
        result.place = []
        result.photo = photo.filter { !Self.makersTags.contains($0.tag) }
        return result
    }

    /// Whether a libvips field may reveal the location, so that `keep-without-place` must remove it.
    static func mayRevealPlace(field: String) -> Bool {
        ["exif-ifd1-", "exif-ifd3-"].contains(where: field.hasPrefix)
            || ["GPS", "MakerNote", "XMLPacket", "IPTC", "ImageResources"].contains(where: field.contains)
    }

    /// The maker notes, the location directory, and padding that programs leave behind.
    private static let makersTags: Set = [0x927c, placeTag, 0xea1c]

    /// The same EXIF with the result's size.
    func sized(_ width: Int, _ height: Int) -> EXIF {
        var result = self
        for index in photo.indices where Self.sizeTags.contains(photo[index].tag) {
            let size = photo[index].tag == 0xa002 ? width : height
            result.photo[index] = Entry(
                tag: photo[index].tag, type: 4, count: 1, value: .bytes(form.bytes(size, 4)))
        }
        return result
    }
}
