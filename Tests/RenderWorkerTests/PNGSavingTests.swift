import CPNGRows
import CVips
import TestTools
import Testing
import WorkerProtocol

/// Tests the PNGs whose pixels the worker packs itself.
struct PNGSavingTests {
    private static let efforts = [1, 4, 6, 9]

    /// Returns a drawing, which has few colours and repeated rows.
    private static func drawing(_ width: Int, _ height: Int) -> Pixels {
        Pixels(width, height) { x, y in (x / 40 + y / 40).isMultiple(of: 2) ? [250, 250, 250] : [20, 60, x / 40 % 7] }
    }

    @Test("A saved picture has the samples of its source, in every kind, size and effort")
    func samples() throws {
        let worker = try WorkerProcess()
        for (width, height) in [(1, 1), (7, 3), (401, 303), (1500, 1100)] {
            for bands in [1, 2, 3, 4] {
                let all = Pixels.colourful(width, height, alpha: true), noise = Pixels.noise(width, height)
                let pixels = Pixels(width, height) { x, y in
                    Array((y < height / 3 ? noise[x, y] + [9] : all[x, y]).prefix(bands))
                }
                let source = try pixels.file(.png)
                for effort in width > 1000 ? [6] : Self.efforts {
                    let result = try worker.render(source, "save format=png effort=\(effort)")
                    #expect(try Pixels(result) == pixels, "\(width) × \(height), \(bands) bands, effort \(effort)")
                }
            }
        }
    }

    @Test("The file is no longer than libvips' file, for a photograph, a drawing and noise")
    func lengths() throws {
        let worker = try WorkerProcess()
        let pictures = [
            Pixels.mixed(900, 700), .colourful(900, 700), .noise(900, 700), Self.drawing(900, 700),
            Self.drawing(1, 3000),
        ]
        for pixels in pictures {
            let source = try pixels.file(.png)
            let result = try worker.render(source, "save format=png")
            #expect(try Pixels(result) == pixels)
            #expect(try result.bytes.count <= source.bytes.count)
        }
    }

    @Test("The stream is valid with one segment and with many, for the own reader and for libvips")
    func segments() throws {
        for pixels in [Pixels.mixed(640, 1300), .colourful(640, 1300), Self.drawing(640, 1300), .noise(2, 2)] {
            let rows = (0..<pixels.height).map { y in (0..<pixels.width).flatMap { pixels[$0, y].map { UInt8($0) } } }
            let collected = Collected()
            let packed = png_packed(
                write: { collected, bytes, count in
                    guard let collected else { return false }
                    let to = Unmanaged<Collected>.fromOpaque(collected).takeUnretainedValue()
                    to.bytes += UnsafeBufferPointer(start: bytes, count: count)
                    return true
                }, context: Unmanaged.passUnretained(collected).toOpaque())
            let packer = try #require(png_packer_open(Int32(pixels.width), Int32(pixels.height), 3, 6, packed))
            defer { png_packer_close(packer) }
            for row in rows { #expect(png_packer_add(packer, row)) }
            #expect(!png_packer_add(packer, rows[0]), "a row too many")
            let file = PNGFile(width: pixels.width, height: pixels.height, kind: 2, packed: collected.bytes)
            #expect(try Pixels(TemporaryFile(file.bytes)) == pixels)
        }
    }

    private final class Collected {
        var bytes: [UInt8] = []
    }

    @Test(
        "Every chunk except the pixels equals libvips'", arguments: ["", " metadata=strip", " metadata=copyright"])
    func chunks(metadata: String) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.mixed(200, 150).file(.png) { picture in
            vips_image_set_string(picture.image, "png-comment-0-Comment", "by Ada")
            vips_image_set_string(picture.image, "exif-ifd0-Copyright", "Ada")
            vips_image_set_int(picture.image, "orientation", 1)
            let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
            vips_image_set_blob_copy(picture.image, "xmp-data", xmp, xmp.count)
            return try picture.then { cvips_set_resolution($0, $1, 11.8, 11.8) }
        }
        // libvips itself saves an interlaced picture.
        let own = try worker.render(source, "save format=png\(metadata)")
        let theirs = try worker.render(source, "save format=png progressive=yes\(metadata)")
        let names = ["IHDR", "IDAT"]
        let (one, other) = (try Self.chunks(own.bytes), try Self.chunks(theirs.bytes))
        #expect(one.filter { !names.contains($0.name) } == other.filter { !names.contains($0.name) })
        #expect(one.count > 3 || metadata == " metadata=strip")
    }

    private struct Chunk: Equatable {
        var name: String
        var content: [UInt8]
    }

    private static func chunks(_ file: [UInt8]) -> [Chunk] {
        var (chunks, at) = ([Chunk](), 8)
        while at + 12 <= file.count {
            let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            let content = Array(file[at + 8..<at + 8 + length])
            chunks.append(Chunk(name: String(decoding: file[at + 4..<at + 8], as: UTF8.self), content: content))
            at += 12 + length
        }
        return chunks
    }
}
