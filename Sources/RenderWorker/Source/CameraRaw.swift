/// Tells a camera's RAW file from the TIFF that most RAW files also are.
enum CameraRaw {
    private static let suffixes: Set = [
        "3fr", "arw", "cr2", "cr3", "dcr", "dng", "erf", "fff", "iiq", "kdc", "mef", "mos", "nef", "nrw", "orf", "pef",
        "raf",
        "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    ]

    /// Photometric interpretations of a sensor's own samples: a colour filter array, linear raw.
    private static let sensorData = [32803, 34892]

    /// Whether the first bytes, which are no TIFF's, are those of a RAW file.
    static func isRaw(prefix: [UInt8]) -> Bool {
        let signs: [(offset: Int, text: String)] = [
            (8, "CR"), (0, "FUJIFILM"), (0, "IIU\0"), (0, "IIRO"), (0, "IIRS"), (0, "MMOR"), (0, "FOVb"),
            (4, "ftypcrx"),
        ]
        return signs.contains { prefix.dropFirst($0.offset).starts(with: $0.text.utf8) }
    }

    /// Whether a TIFF is a RAW file: by the tags of DNG and others or, since makers hide theirs, by its name.
    static func isRaw(tiff read: @escaping TIFFDirectory.Reader, name: String) -> Bool {
        let suffix = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard !suffixes.contains(suffix) else { return true }
        guard let first = TIFFDirectory(read) else { return false }
        let dngVersion = 50706, subdirectories = 330, photometric = 262
        let below = first.numbers(subdirectories).compactMap { TIFFDirectory(at: $0, read) }
        return first.has(dngVersion)
            || ([first] + below).contains { $0.numbers(photometric).contains(where: sensorData.contains) }
    }
}
