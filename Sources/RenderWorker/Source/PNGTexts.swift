import CVips
import PipelineModel
import WorkerProtocol

/// Limits a PNG's texts and profile. These chunks are compressed. A few kilobytes can unpack to gigabytes, which the
/// decoder would keep in memory.
enum PNGTexts {
    /// Limit on chunks, far above their number in a real picture.
    private static let mostChunks = 1 << 20
    private static let (signature, head, checksum) = (8, 8, 4)

    /// Unpacks each text into a small buffer, and refuses the picture if all texts together exceed `most` bytes.
    static func check(
        size: Int, most: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?
    ) throws(WorkerFailure) {
        var (left, at) = (most, signature)
        for _ in 0..<mostChunks {
            guard let head = read(at, Self.head) else { return }
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            let (content, name) = (at + Self.head, String(decoding: head[4...], as: UTF8.self))
            if ["zTXt", "iTXt", "iCCP"].contains(name) {
                // If the chunk is truncated, unpack the bytes that exist.
                let bytes = read(content, min(length, max(0, size - content), most + 1)) ?? []
                if let packed = packed(bytes, of: name) { left -= unpackedCount(packed, most: left + 1) }
            }
            guard left >= 0 else { throw refusal(most) }
            at = content + length + checksum
        }
    }

    private static func refusal(_ most: Int) -> WorkerFailure {
        WorkerFailure(
            stage: "open",
            message: "the texts and the profile in the PNG unpack to more than MaxTexts=\(most) bytes",
            advice: "save it without its metadata, and drop that. If you trust it, raise MaxTexts in [Daemon], "
                + "then pipectl retry")
    }

    /// The compressed part of a chunk; nil if nothing in it is compressed.
    private static func packed(_ bytes: [UInt8], of name: String) -> ArraySlice<UInt8>? {
        // A zero byte ends the key.
        var rest = bytes.drop { $0 != 0 }.dropFirst()
        let method = rest.prefix(name == "iTXt" ? 2 : 1)
        rest = rest.dropFirst(method.count)
        guard name == "iTXt" else { return method.first == 0 ? rest : nil }
        // A language and a translated key precede the text.
        return method.first == 1 ? rest.drop { $0 != 0 }.dropFirst().drop { $0 != 0 }.dropFirst() : nil
    }

    /// The unpacked length in bytes, up to `most`.
    static func unpackedCount(_ packed: ArraySlice<UInt8>, most: Int) -> Int {
        guard let unpacker = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB) else { return 0 }
        defer { g_object_unref(UnsafeMutableRawPointer(unpacker)) }
        var (buffer, left, count) = ([UInt8](repeating: 0, count: 1 << 16), packed, 0)
        while count < most {
            var (taken, made): (gsize, gsize) = (0, 0)
            let status = left.withUnsafeBytes { packed in
                buffer.withUnsafeMutableBytes {
                    g_converter_convert(
                        unpacker, packed.baseAddress, gsize(packed.count), $0.baseAddress, gsize($0.count),
                        G_CONVERTER_NO_FLAGS, &taken, &made, nil)
                }
            }
            guard status == G_CONVERTER_CONVERTED || status == G_CONVERTER_FINISHED else { return count }
            count += Int(made)
            left = left.dropFirst(Int(taken))
            if status == G_CONVERTER_FINISHED { return count }
        }
        return most
    }
}
