import CRaw

/// A camera's file, as LibRaw reads it.
final class CameraFile {
    struct Failure: Error {
        enum Kind { case unknown, cut, damaged, outOfMemory }

        var kind: Kind
        /// LibRaw's own error message.
        var words: String
    }

    /// Receives LibRaw's callbacks.
    private final class Reading {
        let bytes: SourceBytes
        let cancellation: Cancellation?

        init(_ bytes: SourceBytes, _ cancellation: Cancellation?) {
            (self.bytes, self.cancellation) = (bytes, cancellation)
        }

        static func from(_ context: UnsafeMutableRawPointer?) -> Reading? {
            context.map { Unmanaged<Reading>.fromOpaque($0).takeUnretainedValue() }
        }

        func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int) -> Int {
            guard cancellation?.isCancelled != true else { return -1 }
            return self.bytes.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count), at: offset)
        }

        /// Reading the sensor's samples takes about a quarter of the time. Interpolating colours takes most of the
        /// remaining time.
        func progress(_ stage: Int32, _ part: Double) -> Int32 {
            guard let cancellation else { return 0 }
            switch stage {
            case craw_loading: cancellation.progress.reached(0.25 * part)
            case craw_interpolating: cancellation.progress.reached(0.3 + 0.6 * part)
            case craw_converting: cancellation.progress.reached(0.9 + 0.1 * part)
            default: break
            }
            return cancellation.isCancelled ? 1 : 0
        }
    }

    private let file: OpaquePointer
    private let reading: Reading

    /// LibRaw's bit readers look some bytes ahead, so reading this far past the end is not a failure.
    private static let lookahead = 16384

    /// Reads the header.
    init(_ bytes: SourceBytes, size: Int, _ cancellation: Cancellation? = nil) throws(Failure) {
        reading = Reading(bytes, cancellation)
        var source = craw_source()
        source.read = { Reading.from($0)?.read($1, $2, at: Int($3)) ?? -1 }
        source.progress = { Reading.from($0)?.progress($1, Double($2) / Double(max(1, $3))) ?? 1 }
        source.context = Unmanaged.passUnretained(reading).toOpaque()
        source.size = Int64(size)
        var error: Int32 = 0
        guard let file = craw_open(&source, &error) else {
            // Truncated files are detected earlier. So if LibRaw reads past the end here, the file is of another kind.
            let failure = Self.failure(error, missed: 0)
            throw failure.kind == .cut ? Failure(kind: .unknown, words: "it ends early") : failure
        }
        self.file = file
    }

    deinit { craw_close(file) }

    /// The largest embedded JPEG, of at most `most` bytes.
    func preview(most: Int) -> (bytes: [UInt8], header: JPEGHeader)? {
        let all = (0..<craw_preview_count(file)).map { (index: $0, preview: craw_preview_at(file, $0)) }
            .filter { $0.preview.may_be_jpeg && (1...Int64(most)).contains($0.preview.length) }
        // Some cameras leave out the previews' sizes, so sort by length.
        for (index, _) in all.sorted(by: { $0.preview.length > $1.preview.length }) {
            var (start, length, isJPEG) = (UnsafeRawPointer?.none, 0, false)
            guard craw_read_preview(file, index, &start, &length, &isJPEG) == 0, isJPEG, let start else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: start, count: length))
            if let header = JPEGHeader(bytes) { return (bytes, header) }
        }
        return nil
    }

    func header() throws(Failure) -> craw_header {
        var header = craw_header()
        try check(craw_read_header(file, &header))
        return header
    }

    /// Develops the sensor's samples into a picture. Call no other method after that.
    func develop(_ settings: craw_settings, accepting acceptsDamage: Bool) throws -> Picture {
        var errors: Int32 = 0
        try withUnsafePointer(to: settings) { try check(craw_develop(file, $0, &errors)) }
        if !acceptsDamage {
            if craw_missed(file) > Self.lookahead { throw Failure(kind: .cut, words: "its samples are not all there") }
            if errors > 0 { throw Failure(kind: .damaged, words: "its samples can't be decoded") }
        }
        var (width, height, bands, bits): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        craw_developed(file, &width, &height, &bands, &bits)
        let is16Bit = bits == 16
        let stride = width * bands * (is16Bit ? 2 : 1)
        guard [1, 3].contains(bands), width > 0, height > 0 else {
            throw Failure(kind: .unknown, words: "its colours are of no usual kind")
        }
        let picture = Picture.painted(width, height, bands: bands, is16Bit: is16Bit) {
            craw_copy_pixels(file, $0, stride) == 0
        }
        guard let picture else { throw Failure(kind: .outOfMemory, words: "there is no memory for its pixels") }
        return picture
    }

    private func check(_ error: Int32) throws(Failure) {
        if error != 0 { throw Self.failure(error, missed: craw_missed(file)) }
    }

    private static func failure(_ error: Int32, missed: Int64) -> Failure {
        let kind: Failure.Kind =
            if craw_is_unknown(error) { .unknown } else if craw_is_out_of_memory(error) {
                .outOfMemory
            } else if craw_is_end(error) || missed > lookahead { .cut } else { .damaged }
        return Failure(kind: kind, words: String(cString: craw_words(error)))
    }
}
