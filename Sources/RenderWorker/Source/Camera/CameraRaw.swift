import CRaw

/// Recognises camera raw files, including raw formats based on TIFF.
enum CameraRaw {
    private static let suffixes: Set = [
        "3fr", "arw", "cr2", "cr3", "dcr", "dng", "erf", "fff", "iiq", "kdc", "mef", "mos", "nef", "nrw", "orf", "pef",
        "raf",
        "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    ]

    /// Photometric interpretations of a sensor's samples: a colour filter array, and linear raw.
    private static let sensorData = [32803, 34892]

    /// Whether the first bytes alone show that a file is a camera's raw file.
    static func isRaw(prefix: [UInt8]) -> Bool {
        let signs: [(offset: Int, text: String)] = [
            (8, "CR"), (0, "FUJIFILM"), (0, "IIU\0"), (0, "IIRO"), (0, "IIRS"), (0, "MMOR"), (0, "FOVb"),
            (4, "ftypcrx"),
        ]
        return signs.contains { prefix.dropFirst($0.offset).starts(with: $0.text.utf8) }
    }

    /// The suffix that files of this kind usually have.
    static func kind(_ prefix: [UInt8], name: String, _ header: craw_header) -> String {
        func starts(_ text: String, at offset: Int = 0) -> Bool { prefix.dropFirst(offset).starts(with: text.utf8) }
        if header.dng_version > 0 { return "dng" }
        if starts("CR", at: 8) { return "cr2" }
        if starts("ftypcrx", at: 4) { return "cr3" }
        if starts("FUJIFILM") { return "raf" }
        if starts("FOVb") { return "x3f" }
        if starts("IIU\0") { return "rw2" }
        let ofOlympus = ["IIRO", "IIRS", "MMOR"]
        if ofOlympus.contains(where: { starts($0) }) { return "orf" }
        let suffix = suffix(of: name)
        if suffixes.contains(suffix) { return suffix }
        let ofMakers = ["Nikon": "nef", "Sony": "arw", "Pentax": "pef", "Samsung": "srw"]
        return ofMakers[CameraPicture.text(header.make)] ?? "raw"
    }

    private static func suffix(of name: String) -> String {
        name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    }

    /// Whether a TIFF is a camera's raw file, according to its name or its tags (of DNG and others). The tags alone do
    /// not suffice, because some makers hide them.
    static func isRaw(tiff read: @escaping TIFFDirectory.Reader, name: String) -> Bool {
        guard !suffixes.contains(suffix(of: name)) else { return true }
        guard let first = TIFFDirectory(read) else { return false }
        let dngVersion = 50706, subdirectories = 330, photometric = 262
        let below = first.numbers(subdirectories).compactMap { TIFFDirectory(at: $0, read) }
        return first.has(dngVersion)
            || ([first] + below).contains { $0.numbers(photometric).contains(where: sensorData.contains) }
    }

    /// Whether the file claims to contain data that lies past its end. LibRaw does not notice a missing end when it
    /// reads a preview.
    static func isCut(size: Int, _ read: @escaping TIFFDirectory.Reader) -> Bool {
        let prefix = read(0, 12) ?? []
        if prefix.dropFirst(4).starts(with: "ftyp".utf8) { return !Boxes.areWhole(size: size, read) }
        if prefix.starts(with: "FUJIFILM".utf8) {
            // Offsets and lengths of three parts: the preview, a header and the samples.
            let form = TIFFForm(isBigEndian: true, isBig: false)
            let numbers = stride(from: 84, to: 108, by: 4).map { read($0, 4).map { form.number($0) } ?? size }
            return stride(from: 0, to: 6, by: 2).contains { numbers[$0] + numbers[$0 + 1] > size }
        }
        guard let first = TIFFDirectory(read) else { return false }
        let (subdirectories, unknown) = (330, 0xffff_ffff)
        let all = [first] + first.numbers(subdirectories).compactMap { first.directory(at: $0) }
        return all.contains { directory in
            [(strips: 273, lengths: 279), (strips: 324, lengths: 325), (strips: 513, lengths: 514)].contains {
                guard let place = directory.last($0.strips), let length = directory.last($0.lengths) else {
                    return false
                }
                return place + length > size && place != unknown
            }
        }
    }
}
