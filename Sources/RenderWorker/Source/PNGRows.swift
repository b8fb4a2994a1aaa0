import CVips
import Synchronization

/// Counts the rows of a PNG that are completely present. libvips does not clear the missing rows, so their memory may
/// contain pixels of earlier pictures. Counting unpacks the picture once more, so the rows are counted only after
/// libvips has warned about a missing row.
final class PNGRows: Sendable {
    private let height: Int
    private let size: Int
    private let file: SourceBytes
    private let warnings = VipsWarning.count
    private let known = Mutex<Int?>(nil)

    private init(_ file: SourceBytes, size: Int, height: Int) {
        (self.file, self.size, self.height) = (file, size, height)
    }

    /// `picture` with missing rows in black.
    static func present(of picture: Picture, in file: SourceBytes, size: Int) throws -> Picture {
        let rows = Unmanaged.passRetained(PNGRows(file, size: size, height: picture.height))
        return try picture.then { picture, out in
            cvips_present_rows(
                picture, out, { data in data.map { Int32(PNGRows.from($0).count) } ?? 0 }, rows.toOpaque(),
                { data in if let data { Unmanaged<PNGRows>.fromOpaque(data).release() } })
        }
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> PNGRows {
        Unmanaged.fromOpaque(data).takeUnretainedValue()
    }

    private var count: Int {
        guard VipsWarning.count > warnings else { return height }
        return known.withLock { known in
            let count = known ?? counted ?? height
            known = count
            return count
        }
    }

    /// Nil for an interlaced picture, whose rows are stored in several passes.
    private var counted: Int? {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        // The header follows the signature and the head of the first chunk.
        guard let header = file.exactly(16, 13), header[12] == 0 else { return nil }
        let width = form.number(header[..<4])
        let bands = [2: 3, 4: 2, 6: 4][header[9]] ?? 1
        // Each row begins with the number of its filter.
        let bytesPerRow = 1 + (width * bands * Int(header[8]) + 7) / 8
        let (bytes, isTooMuch) = bytesPerRow.multipliedReportingOverflow(by: height)
        // A header with such a size is refused elsewhere.
        if isTooMuch { return nil }
        var (packed, at) = ([UInt8](), 8)
        while let head = file.exactly(at, 8) {
            let (length, content) = (form.number(head[..<4]), at + 8)
            if head[4...].elementsEqual("IDAT".utf8) {
                packed += file.exactly(content, min(length, max(0, size - content))) ?? []
            }
            at = content + length + 4
        }
        return PNGTexts.unpackedCount(packed[...], most: bytes) / bytesPerRow
    }
}
