import CVips

/// Kinds of pictures with a colour profile: one for each kind of profile.
extension PictureKind {
    static let profiles = usable + useless

    private static func with(_ profile: TableProfile, _ make: @escaping Change = { $0 }, cut: Int = .max) -> Change {
        let bytes = Array(profile.bytes.prefix(cut))
        return {
            let picture = try make($0).then { cvips_copy($0, $1) }
            picture.set("icc-profile-data", bytes)
            return picture
        }
    }

    private static let usable = [["A2B0"], ["A2B1"], ["A2B2"], ["A2B0", "A2B1", "A2B2"]].flatMap { tags in
        func profile(_ profile: TableProfile) -> TableProfile {
            var profile = profile
            profile.tags = tags
            return profile
        }
        func kinds(
            _ name: String, _ from: TableProfile, _ formats: [Pixels.Format], bands: Int,
            _ make: @escaping Change = { $0 },
            look: @escaping @Sendable ([Int]) -> [Int]
        ) -> [PictureKind] {
            (tags == ["A2B0"] ? formats : [.tiff]).map {
                PictureKind(
                    name: "\(name) with \(tags), \($0)", bands: bands, format: $0, make: with(profile(from), make),
                    plain: { try VipsPicture($0.inMemory().pixels().map(look), is16Bit: false) }, tolerance: 8)
            }
        }
        return kinds("grey", .grey, [.jpeg, .png, .tiff], bands: 1) { [($0[0] * $0[0] + 127) / 255] }
            + kinds("grey and alpha", .grey, [.png, .tiff], bands: 2) { [($0[0] * $0[0] + 127) / 255, $0[1]] }
            + kinds("colours", .turnedColours, [.jpeg, .webp, .png, .tiff], bands: 3, look: turned)
            + kinds("colours and alpha", .turnedColours, [.webp, .png, .tiff], bands: 4) {
                [$0[1], $0[2], $0[0], $0[3]]
            }
            + kinds("inks", .inks, [.jpeg, .tiff], bands: 3, inks) { inks in
                (0..<3).map { (255 - inks[$0]) * (255 - inks[3]) / 255 }
            }
            + [
                PictureKind(
                    name: "floating colours with \(tags)", make: with(profile(.turnedColours), floating),
                    plain: {
                        try VipsPicture(
                            $0.then { cvips_linear($0, $1, 255) }.inMemory().pixels().map(turned), is16Bit: false)
                    })
            ]
    }

    /// Profiles that the worker ignores.
    private static let useless: [PictureKind] = {
        var (link, abstract, spaceOnly) = (
            TableProfile.turnedColours, TableProfile.turnedColours, TableProfile.turnedColours
        )
        (link.kind, abstract.kind, spaceOnly.space) = ("link", "abst", "Lab ")
        return [
            ("a device link", with(link), 3), ("an abstract profile", with(abstract), 3),
            ("a profile of Lab", with(spaceOnly), 3),
            ("a profile for grey", with(.grey), 3), ("a profile for inks", with(.inks), 3),
            ("a profile for inks", with(.inks), 4),
            ("half a profile", with(.turnedColours, cut: 5000), 3), ("a profile for colours", with(.turnedColours), 1),
        ].map { name, make, bands in PictureKind(name: "\(bands) bands and \(name)", bands: bands, make: make) }
            + [
                PictureKind(
                    name: "inks and a profile for grey", make: with(.grey, inks), plain: withoutProfile, tolerance: 8),
                PictureKind(
                    name: "inks and a profile for colours", make: with(.turnedColours, inks), plain: withoutProfile,
                    tolerance: 8),
            ]
    }()

    private static let floating: Change = {
        try $0.then { cvips_linear($0, $1, 1.0 / 255) }.then { cvips_reinterpret($0, $1, VIPS_INTERPRETATION_scRGB) }
    }

    private static let turned: @Sendable ([Int]) -> [Int] = { [$0[1], $0[2], $0[0]] }

    private static let withoutProfile: Change = {
        let plain = try $0.then { cvips_copy($0, $1) }
        vips_image_remove(plain.image, "icc-profile-data")
        return try inksAsSRGB(plain)
    }
}
