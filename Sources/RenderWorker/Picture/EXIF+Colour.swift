/// EXIF declares the colour space in two ways: by a number, and by the name of the exchange rules (DCF) that the file
/// follows. Cameras mark Adobe RGB only in these two ways, and embed no profile.
extension EXIF {
    private static let (spaceTag, rulesTag) = (0xa001, 0x0001)
    /// The standard has no number for Adobe RGB. It prescribes 65535 ("uncalibrated") for such files, but some writers
    /// use 2.
    private static let (sRGB, adobeRGB) = (1, 2)
    private static let (rulesOfSRGB, rulesOfAdobeRGB) = (Array("R98\0".utf8), Array("R03\0".utf8))

    static func isAdobeRGB(_ block: [UInt8]) -> Bool {
        let (photo, exchange) = directories(in: tiff(block))
        let space = photo?.numbers(spaceTag).first
        return space == adobeRGB
            || space != sRGB && exchange?.value(rulesTag, most: rulesOfAdobeRGB.count) == rulesOfAdobeRGB
    }

    /// A copy of the EXIF block, changed to declare sRGB as the colour space.
    static func declaringSRGB(_ block: [UInt8]) -> [UInt8] {
        let tiff = tiff(block)
        let (photo, exchange) = directories(in: tiff)
        var result = block
        func write(_ value: [UInt8], to entry: TIFFDirectory.Entry?) {
            guard let entry, entry.isInline, TIFFForm.size(of: entry.type) * entry.count == value.count else { return }
            let at = tiff.startIndex + entry.offset
            result.replaceSubrange(at..<at + value.count, with: value)
        }
        if let photo { write(photo.form.bytes(sRGB, 2), to: photo.entries[spaceTag]) }
        write(rulesOfSRGB, to: exchange?.entries[rulesTag])
        return result
    }

    private static func directories(in tiff: ArraySlice<UInt8>) -> (photo: TIFFDirectory?, exchange: TIFFDirectory?) {
        func below(_ tag: Int, of directory: TIFFDirectory?) -> TIFFDirectory? {
            directory?.numbers(tag).first.flatMap { directory?.directory(at: $0) }
        }
        let photo = below(photoTag, of: TIFFDirectory(in: tiff))
        return (photo, below(exchangeTag, of: photo))
    }
}

extension Picture {
    /// Adds the profile that EXIF implies, if the file has no usable profile.
    func addProfileOfEXIF() {
        guard colourBands == 3, let block = blob("exif-data"), EXIF.isAdobeRGB(block), profile == nil else { return }
        setBlob(ICCProfile.field, ICCProfile.adobeRGB)
    }

    /// Makes EXIF declare sRGB, unless a profile says otherwise.
    func declareSRGBInEXIF() {
        guard profile?.isSRGB != false, let block = blob("exif-data") else { return }
        let declaring = EXIF.declaringSRGB(block)
        guard declaring != block else { return }
        let fields = Set(fieldNames)
        setBlob("exif-data", declaring)
        // libvips makes a field from each tag in the new block. Remove the fields that did not exist before. For
        // example, the orientation was removed when the picture was turned upright, and must not come back.
        removeFields { !fields.contains($0) }
    }
}

extension ICCProfile {
    /// A profile for Adobe RGB (1998): its primaries and white point, adapted to D50, and its gamma.
    static let adobeRGB: [UInt8] = {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        func fixed(_ numbers: [Double]) -> [UInt8] { numbers.flatMap { form.bytes(Int(($0 * 65536).rounded()), 4) } }
        func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
        func element(_ name: String, _ content: [UInt8]) -> [UInt8] { Array(name.utf8) + [0, 0, 0, 0] + content }
        let white = [0.9642, 1, 0.8249]
        let name = text("Compatible with Adobe RGB (1998)")
        // The zeros mean that the name has no translations.
        let description = element("desc", form.bytes(name.count, 4) + name + [UInt8](repeating: 0, count: 78))
        let gamma = element("curv", form.bytes(1, 4) + form.bytes(563, 2))
        let elements: [(tag: String, bytes: [UInt8])] = [
            ("desc", description), ("cprt", element("text", text("CC0"))),
            ("wtpt", element("XYZ ", fixed(white))),
            ("rXYZ", element("XYZ ", fixed([0.60974, 0.31111, 0.01947]))),
            ("gXYZ", element("XYZ ", fixed([0.20528, 0.62567, 0.06087]))),
            ("bXYZ", element("XYZ ", fixed([0.14919, 0.06322, 0.74457]))),
            ("rTRC", gamma), ("gTRC", gamma), ("bTRC", gamma),
        ]
        var (directory, data) = (form.bytes(elements.count, 4), [UInt8]())
        let start = 128 + 4 + 12 * elements.count
        for (tag, bytes) in elements {
            directory += Array(tag.utf8) + form.bytes(start + data.count, 4) + form.bytes(bytes.count, 4)
            data += bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        var head = form.bytes(start + data.count, 4) + form.bytes(0, 4) + form.bytes(0x0240_0000, 4)
        head += Array("mntrRGB XYZ ".utf8)
        // Dated 1 January 2026, with no platform, device or purpose.
        head += [2026, 1, 1, 0, 0, 0].flatMap { form.bytes($0, 2) } + Array("acsp".utf8)
        head += [UInt8](repeating: 0, count: 68 - head.count) + fixed(white)
        return head + [UInt8](repeating: 0, count: 128 - head.count) + directory + data
    }()
}
