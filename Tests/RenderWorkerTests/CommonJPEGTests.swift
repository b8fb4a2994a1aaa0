import CJPEGPlanes
import CTurboJPEG
import Testing
import WorkerProtocol

/// Compares the worker's own JPEG decoder with TurboJPEG.
struct CommonJPEGTests {
    /// A kind of chroma subsampling. `across` and `down` count the luma pixels that share a chroma sample.
    struct Sampling: CustomTestStringConvertible {
        var testDescription: String
        var number: TJSAMP
        var across: Int
        var down: Int

        static let quarter = Sampling(testDescription: "4:2:0", number: TJSAMP_420, across: 2, down: 2)
        static let decoded = [
            Sampling(testDescription: "4:4:4", number: TJSAMP_444, across: 1, down: 1),
            Sampling(testDescription: "4:2:2", number: TJSAMP_422, across: 2, down: 1), quarter,
            Sampling(testDescription: "4:4:0", number: TJSAMP_440, across: 1, down: 2),
        ]
        static let quarterAcross = Sampling(testDescription: "4:1:1", number: TJSAMP_411, across: 4, down: 1)
        static let grey = Sampling(testDescription: "grey", number: TJSAMP_GRAY, across: 1, down: 1)
    }

    private func jpeg(
        _ pixels: Pixels, _ sampling: Sampling, quality: Int, isProgressive: Bool = false
    ) throws -> [UInt8] {
        let encoder = try #require(tjInitCompress())
        defer { tjDestroy(encoder) }
        var (bytes, length) = (UnsafeMutablePointer<UInt8>?.none, UInt(0))
        defer { tjFree(bytes) }
        let status = tjCompress2(
            encoder, pixels.samples.map { UInt8($0) }, Int32(pixels.width), 0, Int32(pixels.height),
            Int32(TJPF_RGB.rawValue), &bytes, &length, Int32(sampling.number.rawValue), Int32(quality),
            isProgressive ? TJFLAG_PROGRESSIVE : 0)
        try #require(status == 0)
        return Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
    }

    private struct Size: Equatable {
        var width: Int
        var height: Int
        var count: Int { width * height }

        func divided(_ across: Int, _ down: Int) -> Size {
            Size(width: (width + across - 1) / across, height: (height + down - 1) / down)
        }
    }

    /// Returns the sizes of the decoded planes.
    private func sizes(_ pixels: Pixels, _ sampling: Sampling, shrink: Int, count: Int) -> [Size] {
        let luma = Size(width: pixels.width, height: pixels.height).divided(shrink, shrink)
        let chroma = luma.divided(sampling.across, sampling.down)
        return count == 1 ? [luma] : [luma, chroma, chroma]
    }

    /// Returns the planes that the decoder writes, each without gaps between rows, or nil if it refuses the file.
    private func decoded(_ jpeg: [UInt8], _ sizes: [Size], shrink: Int) -> [[UInt8]]? {
        let memory = sizes.map { UnsafeMutableBufferPointer<UInt8>.allocate(capacity: $0.count) }
        defer { for each in memory { each.deallocate() } }
        let planes = zip(memory, sizes).map { memory, size in
            jpeg_plane(
                samples: memory.baseAddress, stride: size.width, width: Int32(size.width), height: Int32(size.height))
        }
        guard jpeg_planes_decode(jpeg, jpeg.count, Int32(shrink), planes, Int32(planes.count)) else { return nil }
        return memory.map { Array($0) }
    }

    /// Returns the planes that TurboJPEG writes. TurboJPEG also writes luma beyond the edge, so that each chroma sample
    /// has all its pixels; `sizes` excludes that luma.
    private func expected(_ jpeg: [UInt8], _ sizes: [Size], _ sampling: Sampling) throws -> [[UInt8]]? {
        let decoder = try #require(tjInitDecompress())
        defer { tjDestroy(decoder) }
        let (width, height) = (Int32(sizes[0].width), Int32(sizes[0].height))
        var made = sizes
        if sizes.count == 3 {
            made[0] = Size(width: sizes[1].width * sampling.across, height: sizes[1].height * sampling.down)
        }
        let memory = made.map { UnsafeMutableBufferPointer<UInt8>.allocate(capacity: $0.count) }
        defer { for each in memory { each.deallocate() } }
        var (planes, strides) = (memory.map(\.baseAddress), made.map { Int32($0.width) })
        let status =
            sizes.count == 1
            ? tjDecompress2(
                decoder, jpeg, UInt(jpeg.count), planes[0], width, width, height, Int32(TJPF_GRAY.rawValue),
                TJFLAG_STOPONWARNING)
            : tjDecompressToYUVPlanes(
                decoder, jpeg, UInt(jpeg.count), &planes, width, &strides, height, TJFLAG_STOPONWARNING)
        guard status == 0 else { return nil }
        return zip(memory, zip(made, sizes)).map { memory, size in
            (0..<size.1.height).flatMap { memory[($0 * size.0.width)..<($0 * size.0.width + size.1.width)] }
        }
    }

    @Test(
        "Every sample equals TurboJPEG's, at any size, quality and subsampling", arguments: Sampling.decoded + [.grey])
    func samples(sampling: Sampling) throws {
        for (width, height) in [(9, 7), (16, 16), (17, 33), (31, 1), (100, 75), (241, 163)] {
            for quality in [30, 60, 90, 100] {
                for pixels in [Pixels.colourful(width, height), .mixed(width, height)] {
                    let file = try jpeg(pixels, sampling, quality: quality)
                    for shrink in [1, 2, 4, 8] {
                        for count in sampling.number == TJSAMP_GRAY ? [1] : [1, 3] {
                            let sizes = sizes(pixels, sampling, shrink: shrink, count: count)
                            let own = try #require(decoded(file, sizes, shrink: shrink))
                            let theirs = try #require(try expected(file, sizes, sampling))
                            #expect(own == theirs, "\(width) × \(height), quality \(quality), 1/\(shrink), \(count)")
                        }
                    }
                }
            }
        }
    }

    @Test("Progressive files, 4:1:1 and planes of another size are refused")
    func refusals() throws {
        let pixels = Pixels.colourful(100, 75)
        let progressive = try jpeg(pixels, .quarter, quality: 80, isProgressive: true)
        #expect(!jpeg_planes_can_decode(progressive, progressive.count))
        let wide = try jpeg(pixels, .quarterAcross, quality: 80)
        #expect(decoded(wide, sizes(pixels, .quarterAcross, shrink: 1, count: 1), shrink: 1) == nil)
        let usual = try jpeg(pixels, .quarter, quality: 80)
        #expect(jpeg_planes_can_decode(usual, usual.count))
        let other = Pixels.colourful(101, 75)
        #expect(decoded(usual, sizes(other, .quarter, shrink: 1, count: 3), shrink: 1) == nil)
        #expect(decoded(usual, sizes(pixels, .quarter, shrink: 3, count: 1), shrink: 3) == nil)
    }

    @Test("A damaged file is refused, or decoded as TurboJPEG does it")
    func damage() throws {
        let pixels = Pixels.mixed(100, 75)
        let usual = try jpeg(pixels, .quarter, quality: 80)
        let sizes = sizes(pixels, .quarter, shrink: 2, count: 3)
        for length in stride(from: 0, to: usual.count, by: 97) {
            #expect(decoded(Array(usual.prefix(length)), sizes, shrink: 2) == nil)
        }
        for place in stride(from: 2, to: usual.count, by: 7) {
            var damaged = usual
            damaged[place] ^= 0x24
            guard let own = decoded(damaged, sizes, shrink: 2) else { continue }
            #expect(try own == expected(damaged, sizes, .quarter), "byte \(place)")
        }
    }

    @Test("A worker's results are the same with libjpeg-turbo alone, and the path names the decoder")
    func worker() throws {
        let (own, libjpeg) = (try WorkerProcess(), try WorkerProcess("--libjpeg"))
        let source = try Pixels.mixed(401, 303).file(.jpeg)
        for chain in ["resize scale=0.5 | noir", "resize width=120", "save"] {
            #expect(try own.open(source, chain).decoderPaths[0].contains(", own decoder"), "\(chain)")
            #expect(try !libjpeg.open(source, chain).decoderPaths[0].contains("decoder"), "\(chain)")
            #expect(try own.render(source, chain).bytes == libjpeg.render(source, chain).bytes, "\(chain)")
        }
        let short = try Pixels(64, 64) { _, _ in [9, 9, 9] }.file(.jpeg)
        #expect(try !own.open(short, "noir").decoderPaths[0].contains("decoder"))
    }
}
