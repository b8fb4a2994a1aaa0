import Glibc

/// The bytes of one component of a picture: luma, or a difference of colours.
final class Plane {
    private(set) var width: Int
    private(set) var height: Int
    /// The distance from a row to the next, in bytes.
    let stride: Int
    let bytes: UnsafeMutablePointer<UInt8>
    /// Vectors of any processor begin at multiples of it.
    static let alignment = 64

    /// Nil when there is no memory for it.
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

    /// The bytes of all rows, with what lies beyond their ends.
    var count: Int { stride * height }

    func fill(_ value: UInt8) { memset(bytes, Int32(value), count) }

    /// Each sample as a table of 256 values has it, in this plane's memory or in new memory.
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

    /// A part of a plane, in its own pixels, which may lie between them.
    struct Region: Equatable {
        var left: Double
        var top: Double
        var width: Double
        var height: Double
    }

    /// The region at another size.
    func resized(_ region: Region, to width: Int, _ height: Int, _ resizers: Resizers) -> Plane? {
        let whole = Region(left: 0, top: 0, width: Double(width), height: Double(height))
        if region == whole, width == self.width, height == self.height { return self }
        let task = Resizer.Task(
            width: self.width, height: self.height, region: region, newWidth: width, newHeight: height)
        return resizers.resizer(for: task)?.apply(to: self)
    }

    /// The pixel at a place of the result, as the place in this plane.
    func moved(to width: Int, _ height: Int, _ place: (_ x: Int, _ y: Int) -> (x: Int, y: Int)) -> Plane? {
        guard let result = Plane(width, height) else { return nil }
        for y in 0..<height {
            // A row's pixels lie in one row or in one column.
            let start = place(0, y), next = width > 1 ? place(1, y) : start
            let step = (next.x - start.x) + (next.y - start.y) * stride
            var from = bytes + start.y * stride + start.x
            let row = result.bytes + y * result.stride
            for x in 0..<width {
                row[x] = from.pointee
                if x < width - 1 { from += step }
            }
        }
        return result
    }

    /// The plane without what lies beyond this size.
    func cut(_ width: Int, _ height: Int) -> Plane {
        (self.width, self.height) = (min(width, self.width), min(height, self.height))
        return self
    }

    /// The plane with its last column and row repeated, up to a size that is no smaller.
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
