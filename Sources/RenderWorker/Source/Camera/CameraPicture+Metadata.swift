import CRaw
import Glibc

extension CameraPicture {
    /// Adds the orientation of the sensor's picture. Also adds the camera's metadata if the preview does not record
    /// when the picture was taken.
    func addMetadata(to picture: Picture) {
        picture.setInteger("orientation", orientation)
        let own = picture.blob("exif-data").flatMap(EXIF.init(block:))
        if own?.photo.contains(where: { $0.tag == Self.takenAtTag }) != true {
            // libvips made these fields from the preview's block, and would later write them over the new block.
            picture.removeFields { $0.hasPrefix("exif-") }
            picture.setBlob("exif-data", (storedEXIF ?? madeEXIF).block)
        }
        let (xmp, mostBytes) = (700, 1 << 20)
        if !picture.hasField("xmp-data"), let text = directory?.value(xmp, most: mostBytes) {
            picture.setBlob("xmp-data", text)
        }
    }

    /// The EXIF that the file itself contains. Nil unless the file has a TIFF's structure, as most camera files do, and
    /// contains EXIF. Drops the maker notes: they point to places in the file, are large, and are useless elsewhere.
    private var storedEXIF: EXIF? {
        guard var exif = EXIF(directory), !exif.photo.isEmpty else { return nil }
        let makerNote = 0x927c
        exif.photo.removeAll { $0.tag == makerNote }
        return exif
    }

    private static let takenAtTag = 0x9003

    /// EXIF made from LibRaw's header, for files without EXIF in TIFF directories.
    private var madeEXIF: EXIF {
        let form = TIFFForm(isBigEndian: false, isBig: false)
        var exif = EXIF(form)
        func text(_ tag: Int, _ text: String) -> EXIF.Entry? {
            text.isEmpty
                ? nil : EXIF.Entry(tag: tag, type: 2, count: text.utf8.count + 1, value: .bytes(Array(text.utf8) + [0]))
        }
        func fraction(_ tag: Int, _ value: Float) -> EXIF.Entry? {
            guard value > 0, value < 100_000 else { return nil }
            let (above, below) =
                value < 1 ? (1000, Int((1000 / value).rounded())) : (Int((value * 1000).rounded()), 1000)
            return EXIF.Entry(tag: tag, type: 5, count: 1, value: .bytes(form.bytes(above, 4) + form.bytes(below, 4)))
        }
        exif.main = [
            text(0x10f, Self.text(header.make)), text(0x110, Self.text(header.model)),
            text(0x13b, Self.text(header.artist)),
        ]
        .compactMap(\.self)
        let sensitivity =
            (1...65535).contains(header.iso)
            ? EXIF.Entry(tag: 0x8827, type: 3, count: 1, value: .bytes(form.bytes(Int(header.iso), 2))) : nil
        exif.photo = [
            fraction(0x829a, header.shutter), fraction(0x829d, header.aperture), sensitivity,
            takenAt.flatMap { text(Self.takenAtTag, $0) }, fraction(0x920a, header.focal_length),
        ].compactMap(\.self)
        return exif
    }

    /// When the picture was taken, as local time. LibRaw interprets the camera's clock in this machine's time zone, so
    /// convert its timestamp back in the same zone.
    private var takenAt: String? {
        var (moment, time) = (time_t(header.timestamp), tm())
        guard moment > 0, localtime_r(&moment, &time) != nil else { return nil }
        func digits(_ number: Int32, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [digits(time.tm_year + 1900, 4), digits(time.tm_mon + 1, 2), digits(time.tm_mday, 2)]
        let clock = [time.tm_hour, time.tm_min, time.tm_sec].map { digits($0, 2) }
        return date.joined(separator: ":") + " " + clock.joined(separator: ":")
    }

    private var directory: TIFFDirectory? { TIFFDirectory(bytes.exactly) }

    /// The characters before the first zero.
    static func text<Letters>(_ letters: Letters) -> String {
        withUnsafeBytes(of: letters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
