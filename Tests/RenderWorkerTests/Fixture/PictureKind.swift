import CVips

/// A kind of picture that libvips can load. It describes how to make the picture from 8-bit pixels, and the expected
/// look.
struct PictureKind: Sendable {
    typealias Change = @Sendable (VipsPicture) throws -> VipsPicture

    let name: String
    /// The number of bands of the original pixels.
    var bands = 3
    var format = Pixels.Format.tiff
    /// The `vips` command that saves the picture, for kinds that `format` does not include.
    var saver: (command: String, options: [String])?
    var make: Change = { $0 }
    /// The photometric number of the TIFF, if it differs from the number that libvips writes.
    var photometric: UInt8?
    /// Computes the expected look from the picture as libvips loads it. If nil, the original pixels are expected.
    var plain: Change?
    /// The allowed difference of a sample, in steps of 255.
    var tolerance = 2

    static let all = colourSpaces + integers + floating + extraBands + files + profiles

    /// Returns the file of the picture, and its expected look in 8 bits.
    func file() throws -> (source: TemporaryFile, look: VipsPicture) {
        let pixels = Self.pixels[bands - 1]
        var source =
            try saver.map { try VipsTool.run($0.command, pixels.file(.png, prepare: make), $0.options) }
            ?? pixels.file(format, quality: 100, prepare: make)
        if let photometric { source = try source.withPhotometric(photometric) }
        return (source, try plain?(VipsPicture(source)).inMemory() ?? VipsPicture(pixels, is16Bit: false))
    }

    /// The original pixels, with one, two, three and four bands.
    private static let pixels = (1...4).map { bands in
        Pixels(40, 32) { x, y in
            let colours = [40 + x * 4, 60 + y * 4, 200 - x - y], alpha = 80 + x + 3 * y
            return (bands < 3 ? [colours[0]] : colours) + (bands % 2 == 0 ? [alpha] : [])
        }
    }
}

extension PictureKind {
    private static let colourSpaces: [PictureKind] = [
        PictureKind(name: "Lab of 8 bit", make: space(VIPS_INTERPRETATION_LABQ), plain: sRGB),
        PictureKind(name: "Lab of 8 bit with alpha", bands: 4, make: labBytes, photometric: 8, tolerance: 9),
        PictureKind(name: "Lab of 16 bit", make: space(VIPS_INTERPRETATION_LABS)),
        PictureKind(name: "Lab of 16 bit with alpha", bands: 4, make: labWords),
        PictureKind(name: "Lab of 16 bit with libvips' alpha", bands: 4, make: space(VIPS_INTERPRETATION_LABS)),
        PictureKind(name: "Lab, floating", make: space(VIPS_INTERPRETATION_LAB)),
        PictureKind(name: "Lab, floating, with alpha", bands: 4, make: space(VIPS_INTERPRETATION_LAB)),
        PictureKind(name: "XYZ, as LogLuv", make: space(VIPS_INTERPRETATION_XYZ), plain: sRGB),
        PictureKind(name: "CMYK", make: inks, plain: inksAsSRGB, tolerance: 8),
        PictureKind(name: "CMYK with alpha", bands: 4, make: inks, plain: inksAsSRGB, tolerance: 8),
        PictureKind(name: "CMYK of 16 bit", make: wideInks, plain: inksAsSRGB, tolerance: 8),
        PictureKind(name: "CMYK of 16 bit with alpha", bands: 4, make: wideInks, plain: inksAsSRGB, tolerance: 8),
        PictureKind(name: "CMYK in a JPEG", format: .jpeg, make: inks, plain: inksAsSRGB, tolerance: 8),
    ]

    private static let integers = (1...4).flatMap { bands in
        let (byte, word) = (257.0, 65537.0)
        let kinds: [(name: String, format: VipsBandFormat, factor: Double)] = [
            ("8 bit", VIPS_FORMAT_UCHAR, 1), ("16 bit", VIPS_FORMAT_USHORT, byte),
            ("8 bit with a sign", VIPS_FORMAT_CHAR, 127.0 / 255), ("16 bit with a sign", VIPS_FORMAT_SHORT, 128.498),
            ("32 bit with a sign", VIPS_FORMAT_INT, byte * word / 2), ("32 bit", VIPS_FORMAT_UINT, byte * word),
            ("8 bit in 16 with a sign", VIPS_FORMAT_SHORT, 1), ("8 bit in 32 with a sign", VIPS_FORMAT_INT, 1),
            ("8 bit in 32", VIPS_FORMAT_UINT, 1), ("16 bit in 32 with a sign", VIPS_FORMAT_INT, byte),
            ("16 bit in 32", VIPS_FORMAT_UINT, byte),
        ]
        return kinds.map { kind in
            PictureKind(
                name: "\(kind.name), \(bands) bands", bands: bands, make: scaled(kind.factor, as: kind.format),
                tolerance: kind.format == VIPS_FORMAT_CHAR ? 3 : 2)
        }
    }

    private static let floating = (1...4).map { bands in
        PictureKind(
            name: "linear light, \(bands) bands", bands: bands,
            make: { picture in
                let colours = bands < 3 ? 1 : 3
                let linear = try picture.then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_scRGB) }.bands(0, colours)
                return try bands % 2 == 1 ? linear : linear.joined(with: scaled(1 / 255)(picture.bands(colours, 1)))
            })
    }

    private static let extraBands = [
        PictureKind(name: "red, green, blue, alpha and another", bands: 4, make: { try $0.joined(with: dark($0)) }),
        PictureKind(
            name: "red, green, blue, alpha and two more", bands: 4,
            make: { try $0.joined(with: dark($0)).joined(with: dark($0)) }),
        PictureKind(name: "grey, alpha and another", bands: 2, make: { try $0.joined(with: dark($0)) }),
        PictureKind(
            name: "three bands of nothing said",
            make: { try $0.then { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_MULTIBAND) } }),
    ]

    private static let files = [
        ("tiffsave", ["--bitdepth=1"], 1), ("tiffsave", ["--bitdepth=2"], 1), ("tiffsave", ["--bitdepth=4"], 1),
        ("tiffsave", ["--miniswhite"], 1), ("tiffsave", ["--compression=jpeg", "--Q=95"], 3),
        ("tiffsave", ["--tile", "--compression=lzw"], 3),
        ("tiffsave", ["--tile", "--pyramid", "--tile-width=16", "--tile-height=16"], 3),
        ("pngsave", ["--palette"], 3), ("pngsave", ["--palette"], 4), ("pngsave", ["--bitdepth=1"], 1),
        ("pngsave", ["--bitdepth=4"], 1), ("pngsave", ["--interlace"], 4), ("gifsave", [], 3), ("gifsave", [], 4),
        ("webpsave", ["--lossless"], 4), ("webpsave", ["--Q=95"], 3), ("jpegsave", ["--interlace"], 3),
        ("jpegsave", ["--subsample-mode=off"], 3), ("jpegsave", [], 1),
    ].map { command, options, bands in
        PictureKind(
            name: "\(command) \(options.joined(separator: " ")), \(bands) bands", bands: bands,
            saver: (command, options), plain: { $0 }, tolerance: command == "pngsave" ? 2 : 8)
    }
}

/// The conversions that make the kinds.
extension PictureKind {
    static func space(_ space: VipsInterpretation) -> Change { { try $0.then { cvips_colourspace($0, $1, space) } } }

    static let sRGB = space(VIPS_INTERPRETATION_sRGB)
    static let inks: Change = { try $0.transformed(from: "srgb", to: "cmyk") }
    static let inksAsSRGB: Change = { try $0.transformed(from: "cmyk", to: "srgb") }

    private static func scaled(_ factor: Double, as format: VipsBandFormat = VIPS_FORMAT_FLOAT) -> Change {
        { try $0.then { cvips_linear($0, $1, factor) }.then { cvips_cast($0, $1, format, 0) } }
    }

    private static let wideInks: Change = {
        try scaled(257, as: VIPS_FORMAT_USHORT)(inks($0)).then {
            cvips_reinterpret($0, $1, VIPS_INTERPRETATION_CMYK)
        }
    }

    /// 8-bit Lab as TIFF stores it: lightness from 0 to 255, and two signed values.
    private static let labBytes: Change = { picture in
        let lab = try space(VIPS_INTERPRETATION_LAB)(picture)
        let lightness = try scaled(2.55, as: VIPS_FORMAT_UCHAR)(lab.bands(0, 1))
        let hues = try lab.bands(1, 2).then { cvips_cast($0, $1, VIPS_FORMAT_CHAR, 0) }
            .then { cvips_cast($0, $1, VIPS_FORMAT_UCHAR, 1) }
        return try lightness.joined(with: hues).joined(with: picture.bands(3, 1)).then {
            cvips_reinterpret($0, $1, VIPS_INTERPRETATION_sRGB)
        }
    }

    /// 16-bit Lab as TIFF stores it. Alpha ranges up to 65535, but libvips reads it as signed.
    private static let labWords: Change = { picture in
        let alpha = try scaled(257, as: VIPS_FORMAT_USHORT)(picture.bands(3, 1))
            .then { cvips_cast($0, $1, VIPS_FORMAT_SHORT, 1) }
        return try space(VIPS_INTERPRETATION_LABS)(picture.bands(0, 3)).joined(with: alpha)
    }

    private static func dark(_ picture: VipsPicture) throws -> VipsPicture {
        try scaled(0, as: VIPS_FORMAT_UCHAR)(picture.bands(0, 1))
    }
}

extension TemporaryFile {
    /// Returns the same TIFF with another photometric number.
    fileprivate func withPhotometric(_ number: UInt8) throws -> TemporaryFile {
        var bytes = try bytes
        let entry: [UInt8] = [0x06, 0x01, 3, 0, 1, 0, 0, 0]
        guard let at = bytes.indices.first(where: { bytes[$0...].starts(with: entry) }) else {
            throw Unexpected("no tag")
        }
        bytes[at + 8] = number
        return try TemporaryFile(bytes)
    }
}
