import CVips

/// Converts the many kinds of samples in files to the usual kinds: unsigned, with 8 or 16 bits.
extension Picture {
    typealias Measure = (_ part: (Picture) throws -> Picture) throws -> Double

    /// Whether the samples are gamma-encoded RGB or grey, of 8 or 16 bits, with at most one alpha band.
    var hasPlainColours: Bool { hasUsualSamples && !isCMYK }

    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    var is16Bit: Bool { format == VIPS_FORMAT_USHORT }

    /// Converts the picture to plain colours or CMYK. Call this before the first resize, because a resize would misread
    /// any other bands. In some files, the range of the samples can only be guessed from the largest sample. `largest`
    /// finds this sample, in the whole picture or only in the bands that its argument extracts.
    func inUsualSamples(largest: Measure) throws -> Picture {
        guard !hasUsualSamples else { return self }
        guard vips_band_format_iscomplex(format) == 0 else {
            throw VipsError(lines: ["its samples are complex numbers"])
        }
        if isAbsolute { return try absoluteInSRGB(largest) }
        let plain = try interpretedByBands().withoutExtraBands()
        if vips_band_format_isfloat(format) != 0 { return try plain.floatingInUsualSamples() }
        return try plain.hasUsualSamples ? plain : plain.integersInUsualSamples(largest { $0 })
    }

    /// Converts a filter's result back to the sample format that the filter received. Values are rounded.
    func inUsualSamples(as format: VipsBandFormat) throws -> Picture {
        try rounded(to: format).interpretedByBands()
    }

    private var hasUsualSamples: Bool {
        guard format == VIPS_FORMAT_UCHAR || is16Bit else { return false }
        return usualInterpretation == interpretation && bands <= mostBands
    }

    /// Number of bands to keep: the colours and one alpha band. TIFF allows any number of bands.
    private var mostBands: Int { isCMYK ? 5 : usualInterpretation == grey ? 2 : 4 }

    private var grey: VipsInterpretation { isWide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W }
    private var isWide: Bool { bytesPerSample > 1 }

    private var usualInterpretation: VipsInterpretation {
        if isCMYK { return interpretation }
        if bands < 3 || interpretation == VIPS_INTERPRETATION_B_W || interpretation == VIPS_INTERPRETATION_GREY16 {
            return grey
        }
        return isWide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB
    }

    func interpretedByBands() throws -> Picture {
        let usual = usualInterpretation
        return try interpretation == usual ? self : interpreted(usual)
    }

    private func withoutExtraBands() throws -> Picture {
        let most = Int32(mostBands)
        return bands > most ? try then { cvips_extract_bands($0, $1, 0, most) } : self
    }

    fileprivate func rounded(to format: VipsBandFormat) throws -> Picture {
        try then { cvips_rint($0, $1) }.then { cvips_cast($0, $1, format, 0) }
    }

    func interpreted(_ interpretation: VipsInterpretation) throws -> Picture {
        try then { cvips_reinterpret($0, $1, interpretation) }
    }
}

/// Lab and other spaces that are defined without a profile.
extension Picture {
    fileprivate var isAbsolute: Bool {
        [VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_XYZ]
            .contains(interpretation)
    }

    fileprivate func absoluteInSRGB(_ largest: Measure) throws -> Picture {
        let plain = try withoutProfile()
        // A 16-bit picture stays 16-bit.
        let isWide = interpretation == VIPS_INTERPRETATION_LABS
        let space = isWide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB
        // LABQ's fourth band is not alpha: it holds the lowest bits of the other bands.
        guard image.pointee.Coding != VIPS_CODING_LABQ, hasAlpha else {
            return try plain.then { cvips_colourspace($0, $1, space) }
        }
        let colours = try plain.then { cvips_extract_bands($0, $1, 0, 3) }.then { cvips_colourspace($0, $1, space) }
        guard isWide else { return try colours.joined(with: plain.fourthBand().rounded(to: colours.format)) }
        // Alpha is unsigned in the file, but libvips reads it as signed. In files that libvips wrote, alpha has 8 bits.
        func alpha(_ picture: Picture) throws -> Picture {
            try picture.fourthBand().then { cvips_cast($0, $1, VIPS_FORMAT_INT, 0) }.then { cvips_low_16_bits($0, $1) }
        }
        let factor: Double = try largest(alpha) <= 255 ? 257 : 1
        return try colours.joined(
            with: alpha(plain).then { cvips_linear($0, $1, factor) }.rounded(to: colours.format))
    }

    private func fourthBand() throws -> Picture { try then { cvips_extract_bands($0, $1, 3, 1) } }
}

/// Floating-point samples range from 0 to 1, as in TIFF, and are linear light unless a profile says otherwise.
extension Picture {
    fileprivate func floatingInUsualSamples() throws -> Picture {
        let wide = try then { cvips_linear($0, $1, 65535) }.rounded(to: VIPS_FORMAT_USHORT).interpretedByBands()
        if isCMYK { return wide }
        if let profile, let known = try? profile.isSRGB ? wide : wide.transformed(by: profile) { return known }
        let isGrey = colourBands == 1
        let bare = try withoutProfile().withoutAlpha()
        let rgb = try (isGrey ? bare.joined(with: bare, bare) : bare).interpreted(VIPS_INTERPRETATION_scRGB)
            .then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
        let colours = isGrey ? try rgb.luma() : rgb
        guard hasAlpha else { return colours }
        return try colours.joined(with: alpha().then { cvips_linear($0, $1, 255) }.rounded(to: VIPS_FORMAT_UCHAR))
    }
}

/// Integers of more than 16 bits, and signed integers.
extension Picture {
    /// In TIFF, white is the largest number of the type. But programs that calculate in wide types often keep 8-bit or
    /// 16-bit values, and such a picture would come out black. So if no sample exceeds 255, then 255 is taken as white.
    /// Otherwise, if no sample exceeds 65535, then 65535 is taken as white.
    fileprivate func integersInUsualSamples(_ largest: Double) throws -> Picture {
        let range: Double =
            switch format {
            case VIPS_FORMAT_CHAR: 127
            case VIPS_FORMAT_SHORT: 32767
            case VIPS_FORMAT_INT: 2_147_483_647
            default: 4_294_967_295
            }
        let white = [255, 65535].first { largest <= $0 && $0 < range } ?? range
        let usual = white <= 255 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT
        let factor = (usual == VIPS_FORMAT_UCHAR ? 255 : 65535) / white
        return try then { cvips_linear($0, $1, factor) }.rounded(to: usual).interpretedByBands()
    }

    /// Reads every row, by computing an average. A search for the largest sample would stop at the first white sample.
    func readToEnd(_ cancellation: Cancellation) throws {
        try cancellation.guarding(self) {
            var average = 0.0
            guard cvips_avg(image, &average) == 0 else { throw VipsError.take() }
        }
    }

    /// The largest sample. Evaluates the picture up to the first white sample, or to the end if no sample is white.
    func largestSample(_ cancellation: Cancellation) throws -> Double {
        try cancellation.guarding(self) {
            var largest = 0.0
            guard cvips_max(image, &largest) == 0 else { throw VipsError.take() }
            return largest
        }
    }
}
