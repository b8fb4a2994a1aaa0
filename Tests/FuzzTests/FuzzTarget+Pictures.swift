import CVips
import PipelineModel
import SystemCalls
import TestTools

@testable import RenderWorker

/// Headers and structure of pictures, and the pixels of common JPEGs and PNGs. Libraries read all other pixels.
extension FuzzTarget {
    static let pictures: [FuzzTarget] = [
        files, jpegs, gainMaps, jpegPlanes, gifs, pngs, pngRows, bmps, boxes, tiffs, webps,
    ]

    /// A file of any format. Calls each function that examines a file before its pixels are read.
    private static let files = FuzzTarget("pictures") { bytes in
        // Skip camera files, which only LibRaw reads.
        let memory = SourceBytes.memory(bytes)
        guard !CameraRaw.isRaw(prefix: Array(bytes.prefix(16))), !CameraRaw.isRaw(tiff: memory.exactly, name: "") else {
            return
        }
        let file = try SourceFile(Descriptor.memory(bytes), name: "a.jpg", accepting: bytes.count % 2 == 0)
        _ = (file.isWhole, file.shrinks, file.framesOfPNG, file.isLosslessWebP, try file.storedPlanes)
        _ = (file.attachedParts(xmp: []), file.pictures(among: 3), try? file.bmp)
        try file.refuseMissingEnd()
    }

    private static let jpegs = FuzzTarget("jpegs") { bytes in
        let markers = JPEGMarkers(bytes)
        for field in ["exif-data", "xmp-data", "iptc-data"] { _ = markers.has(field) }
        let whole = bytes.prefix(2) + markers.markers.joined() + markers.rest
        precondition(Array(whole) == bytes, "the markers and the rest are not the file")
        if let header = JPEGHeader(bytes) { _ = (header.bands, header.storesLuma, header.sharedColours) }
        var segments = JPEGSegments(file: window(bytes))
        guard segments.areWhole() else { return }
        var longer = JPEGSegments(file: window(bytes + [0, 1, 2]))
        precondition(longer.areWhole(), "bytes behind the end do harm")
    }

    private static let gainMaps = FuzzTarget(
        "gain-maps",
        words: [
            "MPF\0MM\0*", "urn:iso:std:iso:ts:21496:-1\0", "http://ns.adobe.com/xap/1.0/\0", "hdrgm:GainMapMax=\"",
            "http://ns.adobe.com/hdr-gain-map/1.0/", "<rdf:Seq><rdf:li>", "urn:com:apple:photo:2020:aux:hdrgainmap",
        ]
    ) { bytes in
        if let index = MultiPictureIndex(bytes[...]) {
            precondition(index.pictures.allSatisfy { $0.start >= 0 && $0.length >= 0 }, "a picture is nowhere")
        }
        if let numbers = GainMapNumbers(iso: bytes[...]) {
            precondition(GainMapNumbers(iso: numbers.iso[...]) != nil, "numbers become unusable")
        }
        if let numbers = GainMapNumbers(xmp: bytes) {
            precondition(GainMapNumbers(xmp: numbers.xmp) == numbers, "numbers change")
            precondition(GainMapNumbers(iso: numbers.iso[...]) != nil, "numbers become unusable")
        }
        let file = try SourceFile(Descriptor.memory(bytes), name: "a.jpg")
        guard case .found(let map) = file.gainMap(1 << 13, 1 << 13, isPromised: true) else { return }
        precondition(map.place.lowerBound > 0 && map.place.upperBound <= bytes.count, "a map is outside of its file")
        guard map.width * map.height <= 1 << 16 else { return }
        let kept = GainMapPlan.kept(GainMapPlacement(stored: 1 << 13, 1 << 13, orientation: 1 + bytes.count % 8))
        let maps = GainMaps(.found(map), [kept], of: file, 1 << 13, 1 << 13, Resizers())
        guard let made = maps.make(0, most: nil).file else { return }
        let start: [UInt8] = [0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9]
        let result = try SourceFile(Descriptor.memory(made.added(to: start)), name: "a.jpg")
        guard case .found(let again) = result.gainMap(1 << 13, 1 << 13, isPromised: false) else {
            preconditionFailure("the result's map can't be found")
        }
        precondition(again.width == made.width && again.height == made.height, "the result has another map")
    }

    /// The last byte chooses the size and the planes.
    private static let jpegPlanes = FuzzTarget("jpeg-planes") { bytes in
        guard let header = JPEGHeader(bytes), let choice = bytes.last else { return }
        let (shrink, withColours) = (1 << (choice & 3), choice & 4 != 0)
        // TurboJPEG chooses another scale for the smallest pictures.
        guard max(header.width, header.height) > 8, Int(header.width) * Int(header.height) <= 1 << 18 else { return }
        guard let own = JPEGPlanes.decodeCommon(bytes, shrink: shrink, withColours: withColours) else { return }
        let theirs = JPEGPlanes.decode(bytes, shrink: shrink, withColours: withColours, by: .libjpeg)
        precondition(theirs.map { samples(of: $0) == samples(of: own) } ?? false, "libjpeg decodes it in another way")
    }

    private static func samples(of planes: Planes) -> [[UInt8]] {
        ([planes.luma] + planes.colours).map { plane in
            (0..<plane.height).flatMap { y in
                UnsafeBufferPointer(start: plane.bytes + y * plane.stride, count: plane.width)
            }
        }
    }

    private static let gifs = FuzzTarget("gifs") { bytes in
        var blocks = GIFBlocks(file: window(bytes))
        guard blocks.areWhole() else { return }
        var longer = GIFBlocks(file: window(bytes + [0, 1, 2]))
        precondition(longer.areWhole(), "bytes behind the end do harm")
    }

    private static func window(_ bytes: [UInt8]) -> FileWindow {
        FileWindow(size: bytes.count, SourceBytes.memory(bytes).exactly)
    }

    private static let pngs = FuzzTarget("pngs", words: ["IHDR", "IDAT", "IEND", "zTXt", "iTXt", "iCCP", "acTL"]) {
        bytes in
        let reader = SourceBytes.memory(bytes).exactly
        if let end = PNGEnd(size: bytes.count, reader) {
            precondition((8...max(8, bytes.count)).contains(end.size), "a file is made longer")
            var mended = Array(bytes.prefix(end.size))
            mended.withUnsafeMutableBytes { end.correct($0, at: 0) }
            mended += end.bytes
            precondition(
                bytes.count < 8 || PNGEnd(size: mended.count, SourceBytes.memory(mended).exactly) == nil,
                "a file is not whole with another end")
        }
        for most in [0, 100, 1 << 20] { try? PNGTexts.check(size: bytes.count, most: most, reader) }
    }

    /// Three bytes choose the size, the bands and the length of a chunk; the other bytes are the packed pixels. The
    /// chunks and their checksums are always valid, so that the fuzzer reaches the reader of the pixels.
    private static let pngRows = FuzzTarget("png-rows") { bytes in
        guard bytes.count > 3 else { return }
        let (kind, packed) = ([0, 4, 2, 6][Int(bytes[2]) & 3], Array(bytes.dropFirst(3)))
        var file = PNGFile(width: Int(bytes[0]) + 1, height: Int(bytes[1]) + 1, kind: UInt8(kind), packed: packed)
        file.part = 1 + Int(bytes[2]) * 16
        let whole = file.bytes
        guard let pixels = PNGPixels(.memory(whole), size: whole.count) else { return }
        var own: [[UInt8]] = []
        while let row = pixels.next() {
            own.append(Array(UnsafeBufferPointer(start: row, count: pixels.width * pixels.bands)))
        }
        let unpacked = unpacked(packed, count: own.count * (1 + pixels.width * pixels.bands))
        let theirs = PNGFile.unfiltered(unpacked, width: pixels.width, bytesPerPixel: pixels.bands)
        precondition(own == theirs, "zlib reads it in another way")
    }

    /// Returns the first `count` bytes that zlib unpacks, or fewer after an error. Passes the packed bytes one by one,
    /// because when a call fails, GLib drops all bytes that zlib has unpacked in that call.
    private static func unpacked(_ packed: [UInt8], count: Int) -> [UInt8] {
        guard let unpacker = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB) else { return [] }
        defer { g_object_unref(UnsafeMutableRawPointer(unpacker)) }
        var (result, left) = ([UInt8](), packed[...])
        while result.count < count {
            var (buffer, taken, made) = ([UInt8](repeating: 0, count: count - result.count), gsize(0), gsize(0))
            let status = left.withUnsafeBytes { from in
                buffer.withUnsafeMutableBytes { to in
                    g_converter_convert(
                        unpacker, from.baseAddress, gsize(min(1, from.count)), to.baseAddress, gsize(to.count),
                        G_CONVERTER_NO_FLAGS, &taken, &made, nil)
                }
            }
            guard status != G_CONVERTER_ERROR, taken + made > 0 else { break }
            result += buffer.prefix(Int(made))
            left = left.dropFirst(Int(taken))
        }
        return result
    }

    private static let bmps = FuzzTarget("bmps") { bytes in
        guard BMP.isBMP(bytes) else { return }
        let header = try BMP(size: bytes.count, SourceBytes.memory(bytes).exactly)
        _ = (header.isGrey, header.bytesPerRow, header.masks.map { $0.value(0x1234_5678) })
        precondition((1...4).contains(header.bands) && header.end > header.start, "a picture has no pixels")
        guard header.isCompressed, header.width * header.height <= 1 << 16 else { return }
        guard let runs = BMPRuns(header, Array(bytes[header.start...])) else { return }
        precondition(runs.indices.count == header.width * header.height, "a picture has other pixels than it says")
    }

    private static let boxes = FuzzTarget(
        "boxes", words: ["ftyp", "meta", "mdat", "uuid", "jxlc", "jxlp", "Exif", "xml ", "JXL \u{d}\u{a}", "jxl "]
    ) { bytes in
        let reader = SourceBytes.memory(bytes).exactly
        let all = Boxes.all(size: bytes.count, reader)
        for (box, next) in zip(all, all.dropFirst()) {
            precondition(box.start < box.end && box.end == next.start, "boxes do not follow each other")
        }
        _ = Boxes.areWhole(size: bytes.count, reader)
        guard let picture = JXLContainer(size: bytes.count, reader) else { return }
        precondition(picture.width > 0 && picture.height > 0, "a picture has no pixels")
        guard let file = JXLContainer.file(of: bytes, exif: [1], xmp: [2]) else { return }
        let made = JXLContainer(size: file.count, SourceBytes.memory(file).exactly)
        precondition(made?.width == picture.width, "metadata hide the picture")
    }

    private static let tiffs = FuzzTarget("tiffs") { bytes in
        let reader = SourceBytes.memory(bytes).exactly
        _ = (CameraRaw.isRaw(tiff: reader, name: ""), CameraRaw.isCut(size: bytes.count, reader))
        guard let directory = TIFFDirectory(reader) else { return }
        _ = (TIFFPyramid(directory).shrinks, TIFFPyramid(directory).pages)
        for tag in directory.entries.keys {
            precondition(directory.numbers(tag).count <= 16, "a tag has too many numbers")
            precondition(directory.value(tag, most: 100).map { $0.count <= 100 } ?? true, "a value is too long")
            _ = directory.last(tag)
        }
    }

    private static let webps = FuzzTarget(
        "webps", words: ["RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ANMF", "EXIF", "C2PA"]
    ) {
        bytes in
        _ = WebPPlanes.isPossible(bytes)
        let container = try WebPContainer(bytes)
        for name in WebPContainer.metadata { _ = container[name] }
    }
}
