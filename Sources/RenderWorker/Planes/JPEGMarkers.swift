import CVips

/// The markers of a JPEG that hold its metadata: libvips writes them into a file of one pixel, and they go with pixels
/// that were encoded elsewhere.
struct JPEGMarkers {
    private var bytes: [UInt8] = []

    /// The markers of `picture`, as it would be saved.
    init(of picture: Picture, strip: Bool) throws {
        let pixel = try picture.then { cvips_crop($0, $1, 0, 0, 1, 1) }
        var (file, length) = (UnsafeMutableRawPointer?.none, 0)
        guard cvips_jpegsave_memory(pixel.image, &file, &length, strip ? 1 : 0) == 0, let file else {
            throw VipsError.take()
        }
        defer { g_free(file) }
        for var marker in Self.split(Array(UnsafeRawBufferPointer(start: file, count: length))).markers {
            // EXIF repeats the picture's size.
            EXIF.setSize(picture.width, picture.height, in: &marker)
            bytes += marker
        }
    }

    /// `jpeg` with these markers in place of its own.
    func applied(to jpeg: [UInt8]) -> [UInt8] { [0xff, 0xd8] + bytes + Self.split(jpeg).rest }

    /// The markers for applications and comments at the beginning of a JPEG, and what follows them.
    private static func split(_ jpeg: [UInt8]) -> (markers: [[UInt8]], rest: ArraySlice<UInt8>) {
        var (markers, at) = ([[UInt8]](), 2)
        while at + 4 <= jpeg.count, jpeg[at] == 0xff, (0xe0...0xef).contains(jpeg[at + 1]) || jpeg[at + 1] == 0xfe {
            let end = at + 2 + Int(jpeg[at + 2]) << 8 + Int(jpeg[at + 3])
            guard end <= jpeg.count else { break }
            markers.append(Array(jpeg[at..<end]))
            at = end
        }
        return (markers, jpeg[at...])
    }
}

extension EXIF {
    /// Writes the picture's size into a JPEG's marker, if that is EXIF.
    fileprivate static func setSize(_ width: Int, _ height: Int, in marker: inout [UInt8]) {
        let start = 4 + prefix.count
        guard marker.count > start, marker[4...].starts(with: prefix) else { return }
        guard let directory = TIFFDirectory(in: marker[start...]),
            let photo = directory.numbers(photoTag).first.flatMap(directory.directory)
        else { return }
        for (tag, size) in [(0xa002, width), (0xa003, height)] {
            guard let entry = photo.entries[tag], entry.isInline, entry.count == 1, [3, 4].contains(entry.type) else {
                continue
            }
            let value = directory.form.bytes(size, TIFFForm.size(of: entry.type))
            marker.replaceSubrange(start + entry.offset..<start + entry.offset + value.count, with: value)
        }
    }
}
