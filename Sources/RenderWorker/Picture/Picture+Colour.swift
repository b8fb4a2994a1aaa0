import CVips

/// What filters and encoders get: sRGB or grey, gamma-encoded, 8 or 16 bit, alpha last if there is any.
extension Picture {
    func inStandardColours() throws -> Picture {
        try profileApplied().integerSamples().standardInterpretation().withoutExtraBands()
    }

    /// Whether the samples are gamma-encoded red, green, blue, or grey, as they are.
    var hasPlainColours: Bool {
        guard format == VIPS_FORMAT_UCHAR || is16Bit else { return false }
        let plain = [
            VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_B_W,
            VIPS_INTERPRETATION_GREY16,
        ]
        return plain.contains(interpretation) && bands <= 4
    }

    /// Whole numbers of more than 16 bit, or signed, which libvips does not resize well, as 16 or 8 bit.
    func withUsualIntegers() throws -> Picture {
        guard vips_band_format_isint(format) != 0, format != VIPS_FORMAT_UCHAR, !is16Bit else { return self }
        let usual = bytesPerSample == 1 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT
        return try isAbsolute ? self : then { cvips_cast($0, $1, usual, 1) }
    }

    /// What a filter left in other samples than it got: values keep their meaning, and are rounded.
    func inStandardColours(as format: VipsBandFormat) throws -> Picture {
        try then { cvips_rint($0, $1) }.then { cvips_cast($0, $1, format, 0) }.standardInterpretation()
    }

    private var is16Bit: Bool { format == VIPS_FORMAT_USHORT }

    private func profileApplied() throws -> Picture {
        let profile = blob("icc-profile-data").flatMap(ICCProfile.init)
        let isCMYK = interpretation == VIPS_INTERPRETATION_CMYK
        guard isCMYK || (profile.map { !$0.isSRGB } ?? false), !isAbsolute else { return self }
        let fallback = isCMYK ? "cmyk" : nil
        let depth: Int32 = is16Bit ? 16 : 8
        guard let transformed = try? then({ cvips_icc_transform($0, $1, "srgb", fallback, depth) }) else {
            // A profile that does not fit the picture is as good as none.
            let plain = try withOwnFields()
            plain.removeField("icc-profile-data")
            guard isCMYK else { return plain }
            return try plain.then { cvips_icc_transform($0, $1, "srgb", fallback, depth) }
        }
        guard let profile, profile.space == "GRAY" else { return transformed }
        return try transformed.firstBandAsGrey()
    }

    /// Lab and the like are defined without a profile.
    private var isAbsolute: Bool {
        [
            VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_XYZ,
            VIPS_INTERPRETATION_scRGB,
        ].contains(interpretation) || vips_band_format_isfloat(format) != 0
    }

    private func firstBandAsGrey() throws -> Picture {
        let grey = try then { cvips_extract_bands($0, $1, 0, 1) }
        let joined = bands > 3 ? try grey.joined(with: then { cvips_extract_bands($0, $1, 3, 1) }) : grey
        return try joined.interpreted(is16Bit ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W)
    }

    /// Other than 8 and 16 bit: floating samples are linear light from 0 to 1, as TIFF has it.
    private func integerSamples() throws -> Picture {
        if format == VIPS_FORMAT_UCHAR || is16Bit { return self }
        if interpretation == VIPS_INTERPRETATION_LAB || interpretation == VIPS_INTERPRETATION_LABQ
            || interpretation == VIPS_INTERPRETATION_LABS || interpretation == VIPS_INTERPRETATION_XYZ
        {
            return try then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
        }
        if vips_band_format_isfloat(format) != 0 {
            let colours = bands - (hasAlpha ? 1 : 0)
            let rgb = colours == 1 ? try firstBandThrice() : self
            let sRGB = try rgb.interpreted(VIPS_INTERPRETATION_scRGB)
                .then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
            return colours == 1 ? try sRGB.firstBandAsGrey() : sRGB
        }
        throw VipsError(lines: ["its samples are complex numbers"])
    }

    private func firstBandThrice() throws -> Picture {
        let grey = try then { cvips_extract_bands($0, $1, 0, 1) }
        let rgb = try grey.joined(with: grey, grey)
        return hasAlpha ? try rgb.joined(with: then { cvips_extract_bands($0, $1, Int32(bands - 1), 1) }) : rgb
    }

    private func standardInterpretation() throws -> Picture {
        let grey = is16Bit ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W
        let colour = is16Bit ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB
        switch interpretation {
        case grey, colour:
            return self
        case VIPS_INTERPRETATION_HSV, VIPS_INTERPRETATION_LCH, VIPS_INTERPRETATION_CMC, VIPS_INTERPRETATION_YXY:
            return try then { cvips_colourspace($0, $1, colour) }
        default:
            return try interpreted(bands < 3 ? grey : colour)
        }
    }

    /// At most the colours and one alpha: TIFF allows any number of bands.
    private func withoutExtraBands() throws -> Picture {
        let isGrey = interpretation == VIPS_INTERPRETATION_GREY16 || interpretation == VIPS_INTERPRETATION_B_W
        let most = isGrey ? 2 : 4
        return bands > most ? try then { cvips_extract_bands($0, $1, 0, Int32(most)) } : self
    }

    func interpreted(_ interpretation: VipsInterpretation) throws -> Picture {
        try then { cvips_reinterpret($0, $1, interpretation) }
    }

    func joined(with others: Picture...) throws -> Picture {
        var images: [UnsafeMutablePointer<VipsImage>?] = [image] + others.map(\.image)
        let count = Int32(images.count)
        return try withExtendedLifetime(others) { try Self.made { cvips_bandjoin(&images, $0, count) } }
    }
}
