import CVips

/// Converts a picture to the colours that filters and encoders expect: gamma-encoded sRGB or grey with 8 or 16 bits,
/// followed by alpha if the picture has alpha.
extension Picture {
    /// Expects a picture with the samples that `inUsualSamples` makes.
    func inStandardColours() throws -> Picture {
        let profile = profile
        if let profile, profile.isSRGB { return self }
        if let profile, let result = try? transformed(by: profile) { return result }
        // Ignore an unusable profile.
        let plain = try withoutProfile()
        return try isCMYK ? plain.inSRGB(VIPS_INTENT_RELATIVE) : plain
    }

    /// Like `inStandardColours`, but leaves an RGB picture in its own profile.
    func inOwnColours() throws -> Picture { profile?.space == "RGB" ? self : try inStandardColours() }

    /// Transforms to sRGB, or to grey if the profile is for grey.
    func transformed(by profile: ICCProfile) throws -> Picture {
        guard let intent = profile.intent else { throw VipsError(lines: ["the profile supports no rendering intent"]) }
        let result = try inSRGB(intent)
        return try profile.space == "GRAY" ? result.luma() : result
    }

    private func inSRGB(_ intent: VipsIntent) throws -> Picture {
        let depth: Int32 = is16Bit ? 16 : 8
        return try then { cvips_icc_transform($0, $1, "srgb", isCMYK ? "cmyk" : nil, intent, depth) }
    }

    /// The picture's own profile. Nil unless it is a device's profile for the colour space of the picture, because
    /// libvips would misread the bands with any other profile.
    var profile: ICCProfile? {
        let space = isCMYK ? "CMYK" : colourBands == 1 ? "GRAY" : "RGB"
        return blob(ICCProfile.field).flatMap(ICCProfile.init).flatMap { $0.isOfDevice && $0.space == space ? $0 : nil }
    }

    func withoutProfile() throws -> Picture {
        guard hasField(ICCProfile.field) else { return self }
        let plain = try withOwnFields()
        plain.removeField(ICCProfile.field)
        return plain
    }

    func joined(with others: Picture...) throws -> Picture {
        var images: [UnsafeMutablePointer<VipsImage>?] = [image] + others.map(\.image)
        let count = Int32(images.count)
        return try withExtendedLifetime(others) { try Self.made { cvips_bandjoin(&images, $0, count) } }
    }
}
