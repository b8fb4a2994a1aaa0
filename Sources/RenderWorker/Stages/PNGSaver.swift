import CPNGRows
import CVips

/// Saves a PNG with 8 bits per sample. The worker compresses the pixels itself, faster and mostly to fewer bytes than
/// libpng. libvips writes all other chunks.
enum PNGSaver {
    /// Whether `save` supports the picture: its samples have 8 bits and need no conversion for a PNG, and the effort is
    /// above 0.
    static func canSave(_ picture: Picture, effort: Int32) -> Bool {
        let space = picture.bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        return effort > 0 && picture.format == VIPS_FORMAT_UCHAR && (1...4).contains(picture.bands)
            && picture.interpretation == space
    }

    static func save(
        _ picture: Picture, _ target: UnsafeMutablePointer<VipsTarget>, effort: Int32, strip: Bool
    ) -> Int32 {
        let stream = Stream(target)
        let packed = png_packed(
            write: { stream, bytes, count in
                guard let stream else { return false }
                return Unmanaged<Stream>.fromOpaque(stream).takeUnretainedValue().put(bytes, count)
            }, context: Unmanaged.passUnretained(stream).toOpaque())
        guard
            let packer = png_packer_open(
                Int32(picture.width), Int32(picture.height), Int32(picture.bands), effort, packed)
        else { return cvips_pngsave(picture.image, target, effort, 0, strip ? 1 : 0) }
        defer { png_packer_close(packer) }
        return withExtendedLifetime(stream) {
            do {
                let chunks = try PlanesMetadata(of: picture).pngChunks(strip: strip)
                guard stream.put(PNGChunk.signature + PNGChunk(header: picture).bytes + chunks.before) else {
                    return -1
                }
                let status = cvips_sink_rows(
                    picture.image, { packer, row in png_packer_add(OpaquePointer(packer), row) ? 0 : -1 },
                    UnsafeMutableRawPointer(packer))
                if status != 0, vips_error_buffer().pointee == 0 {
                    cvips_error("pngsave", "the compressed pixels differ from the picture")
                }
                return status == 0 && stream.put(chunks.behind) ? vips_target_end(target) : -1
            } catch {
                cvips_error("pngsave", (error as? VipsError)?.reason ?? "\(error)")
                return -1
            }
        }
    }

    /// Writes each part of the compressed pixels as a chunk.
    private final class Stream {
        private let target: UnsafeMutablePointer<VipsTarget>

        init(_ target: UnsafeMutablePointer<VipsTarget>) { self.target = target }

        func put(_ bytes: [UInt8]) -> Bool { vips_target_write(target, bytes, bytes.count) == 0 }

        func put(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
            let name = Array("IDAT".utf8)
            let checksum = png_checksum(png_checksum(0, name, name.count), bytes, count)
            return put(PNGChunk.number(count) + name) && vips_target_write(target, bytes, count) == 0
                && put(PNGChunk.number(Int(checksum)))
        }
    }
}

/// A chunk of a PNG.
struct PNGChunk {
    let name: String
    let content: [UInt8]

    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    init(name: String, content: [UInt8]) { (self.name, self.content) = (name, content) }

    /// The header of a non-interlaced picture with 8 bits per sample.
    fileprivate init(header picture: Picture) {
        let kind = [0, 4, 2, 6][picture.bands - 1]
        let size = Self.number(picture.width) + Self.number(picture.height)
        self.init(name: "IHDR", content: size + [8, UInt8(kind), 0, 0, 0])
    }

    var bytes: [UInt8] {
        let whole = Array(name.utf8) + content
        return Self.number(content.count) + whole + Self.number(Int(png_checksum(0, whole, whole.count)))
    }

    /// The chunks of a file.
    static func all(_ file: [UInt8]) -> [PNGChunk] {
        var (chunks, at) = ([PNGChunk](), signature.count)
        while at + 12 <= file.count {
            let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            guard at + 12 + length <= file.count else { break }
            let name = String(decoding: file[at + 4..<at + 8], as: UTF8.self)
            chunks.append(PNGChunk(name: name, content: Array(file[at + 8..<at + 8 + length])))
            at += 12 + length
        }
        return chunks
    }

    static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
}

extension PlanesMetadata {
    /// The chunks before and after the pixels, as libvips writes them.
    fileprivate func pngChunks(strip: Bool) throws -> (before: [UInt8], behind: [UInt8]) {
        let chunks = PNGChunk.all(try pixel(by: strip ? .strippedPNG : .png)).filter { $0.name != "IHDR" }
        func bytes(_ chunks: some Sequence<PNGChunk>) -> [UInt8] {
            chunks.flatMap { chunk in
                guard chunk.name == "eXIf" else { return chunk.bytes }
                let exif = EXIF.sized(chunk.content, picture.width, picture.height)
                return PNGChunk(name: chunk.name, content: exif).bytes
            }
        }
        let before = chunks.prefix { $0.name != "IDAT" }
        return (bytes(before), bytes(chunks.dropFirst(before.count).filter { $0.name != "IDAT" }))
    }
}
