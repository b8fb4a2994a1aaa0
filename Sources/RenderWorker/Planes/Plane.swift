import Glibc

/// The samples of one component of a picture, luma or chroma, in one byte each.
final class Plane {
    private(set) var width: Int
    private(set) var height: Int
    /// Distance between the starts of two rows, in bytes.
    let stride: Int
    let bytes: UnsafeMutablePointer<UInt8>
    /// Alignment that suits the vectors of any processor.
    static let alignment = 64

    /// Nil when memory can't be allocated.
    init?(_ width: Int, _ height: Int) {
        (self.width, self.height) = (width, height)
        stride = (width + Self.alignment - 1) / Self.alignment * Self.alignment
        var memory: UnsafeMutableRawPointer?
        guard width > 0, height > 0, posix_memalign(&memory, Self.alignment, stride * height) == 0, let memory else {
            return nil
        }
        bytes = memory.bindMemory(to: UInt8.self, capacity: stride * height)
    }

    deinit { free(bytes) }

    /// Bytes of all rows, including their padding.
    var count: Int { stride * height }

    func row(_ y: Int) -> UnsafePointer<UInt8> { UnsafePointer(bytes + y * stride) }

    func fill(_ value: UInt8) { memset(bytes, Int32(value), count) }

    /// Maps each sample through a table of 256 values, in place or into a new plane.
    func mapped(_ table: [UInt8], inPlace: Bool = false) -> Plane? {
        guard let result = inPlace ? self : Plane(width, height) else { return nil }
        table.withUnsafeBufferPointer { table in
            for y in 0..<height {
                let (from, to) = (bytes + y * stride, result.bytes + y * result.stride)
                for x in 0..<width { to[x] = table[Int(from[x])] }
            }
        }
        return result
    }

    /// A part of a plane, in pixels. Its edges may lie between pixels.
    struct Region: Equatable {
        var left: Double
        var top: Double
        var width: Double
        var height: Double
    }

    /// Scales the region to another size.
    func resized(_ region: Region, to width: Int, _ height: Int, _ resizers: Resizers) -> Plane? {
        let whole = Region(left: 0, top: 0, width: Double(width), height: Double(height))
        if region == whole, width == self.width, height == self.height { return self }
        let task = Resizer.Task(
            width: self.width, height: self.height, region: region, newWidth: width, newHeight: height)
        return resizers.resizer(for: task)?.apply(to: self)
    }

    /// Rearranges the pixels. `place` maps a position in the result to a position in this plane.
    func moved(to width: Int, _ height: Int, _ place: (_ x: Int, _ y: Int) -> (x: Int, y: Int)) -> Plane? {
        guard let result = Plane(width, height) else { return nil }
        for y in 0..<height {
            // All pixels of one row of the result come from a single row or a single column of this plane.
            let start = place(0, y), next = width > 1 ? place(1, y) : start
            let step = (next.x - start.x) + (next.y - start.y) * stride
            var from = bytes + start.y * stride + start.x
            let row = result.bytes + y * result.stride
            switch step {
            case 1: memcpy(row, from, width)
            // The compiler vectorises this loop.
            case -1: for x in 0..<width { row[x] = from[0 &- x] }
            default:
                for x in 0..<width {
                    row[x] = from.pointee
                    if x < width - 1 { from += step }
                }
            }
        }
        return result
    }

    /// A larger plane that contains this plane, and has `value` everywhere else.
    func framed(to width: Int, _ height: Int, left: Int, top: Int, _ value: UInt8) -> Plane? {
        guard let result = Plane(width, height) else { return nil }
        result.fill(value)
        for y in 0..<self.height { memcpy(result.bytes + (top + y) * result.stride + left, row(y), self.width) }
        return result
    }

    /// Crops the plane, in place, to at most this size.
    func cut(_ width: Int, _ height: Int) -> Plane {
        (self.width, self.height) = (min(width, self.width), min(height, self.height))
        return self
    }

    /// Extends the plane, by repeating its last column and row, to a size that is at least its own.
    func extended(to width: Int, _ height: Int) -> Plane? {
        guard width != self.width || height != self.height else { return self }
        guard let result = Plane(width, height) else { return nil }
        for y in 0..<height {
            let row = result.bytes + y * result.stride
            memcpy(row, bytes + min(y, self.height - 1) * stride, self.width)
            memset(row + self.width, Int32(row[self.width - 1]), width - self.width)
        }
        return result
    }
}
