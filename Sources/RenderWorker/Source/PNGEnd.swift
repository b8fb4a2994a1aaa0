/// An artificial end for a truncated PNG, so that the decoder uses all bytes that are present. The last chunk of pixels
/// is shortened to the file's end, and an end chunk follows. Otherwise libspng would drop up to 8 KB.
struct PNGEnd {
    /// Number of bytes of the file to use, before the artificial end.
    let size: Int
    /// The corrected length of the last chunk of pixels, and the offset of the original length in the file. The length
    /// is empty if no correction is needed.
    let length: [UInt8]
    let place: Int
    let bytes: [UInt8]

    private static let lastChunk: [UInt8] = [0, 0, 0, 0] + Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82]
    /// A chunk consists of a length, a name, the content and a checksum. Decoders that accept damage ignore the
    /// checksum.
    private static let (head, checksum) = (8, 4)
    /// Limit on chunks, far above their number in a real picture.
    private static let mostChunks = 1 << 20

    /// Nil when the file is complete, or has too many chunks.
    init?(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) {
        let signature = 8
        var at = signature
        for _ in 0..<Self.mostChunks {
            guard let head = read(at, Self.head) else {
                self.init(size: at, length: [], at: at, bytes: Self.lastChunk)
                return
            }
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            let content = at + Self.head
            if content + length + Self.checksum > size {
                guard head[4...].elementsEqual("IDAT".utf8) else {
                    self.init(size: at, length: [], at: at, bytes: Self.lastChunk)
                    return
                }
                let present = min(length, size - content)
                let number = TIFFForm(isBigEndian: true, isBig: false).bytes(present, 4)
                let checksum = [UInt8](repeating: 0, count: Self.checksum)
                self.init(size: content + present, length: number, at: at, bytes: checksum + Self.lastChunk)
                return
            }
            if head[4...].elementsEqual("IEND".utf8) { return nil }
            at = content + length + Self.checksum
        }
        return nil
    }

    private init(size: Int, length: [UInt8], at place: Int, bytes: [UInt8]) {
        (self.size, self.length, self.place, self.bytes) = (size, length, place, bytes)
    }

    /// Replaces the bytes of the chunk's length in `read`, which was read at `offset`.
    func correct(_ read: UnsafeMutableRawBufferPointer, at offset: Int) {
        for (index, byte) in length.enumerated() {
            let at = place + index - offset
            if read.indices.contains(at) { read[at] = byte }
        }
    }
}
