/// A HEIF into whose `meta` box a test can insert further boxes.
struct HEIFFile {
    private(set) var bytes: [UInt8]

    /// Appends a box to the content of the box at `path`, which is relative to `meta`.
    mutating func insert(_ name: String, _ content: [UInt8], into path: [String]) throws {
        try insert(Self.box(name, content), into: path)
    }

    /// Adds an item of this type. Its data are the first bytes of the picture's own data.
    mutating func addItem(_ type: String, number: UInt8) throws {
        try insert("infe", [2, 0, 0, 0, 0, number, 0, 0] + Array("\(type)\0".utf8), into: ["iinf"])
        let table = try ItemTable(self)
        let head = table.version == 0 ? 4 : 6
        let length = head + table.baseSize + 2 + table.indexSize + table.offsetSize + table.lengthSize
        let pixels = try place(of: "mdat", within: 0..<bytes.count) + 8 + length
        func field(_ value: Int, _ count: Int) -> [UInt8] { Bitmap.number(value, count).reversed() }
        let place = field(0, table.indexSize) + field(pixels, table.offsetSize) + field(8, table.lengthSize)
        let entry = [0, number] + field(0, head - 2 + table.baseSize) + field(1, 2) + place
        try insert(entry, into: ["iloc"])
        add(1, at: table.start + 14, bytes: 2)
    }

    /// Inserts the box, and adjusts sizes, counts and the offsets of the pixels.
    private mutating func insert(_ box: [UInt8], into path: [String]) throws {
        let meta = try place(of: "meta", within: 0..<bytes.count)
        var places = [meta]
        for name in path {
            let outer = places[places.count - 1]
            // `meta` and `iinf` begin with a version, and `iinf` continues with a count.
            let head = ["meta": 12, "iinf": 14][self.name(at: outer)] ?? 8
            places.append(try place(of: name, within: outer + head..<outer + length(at: outer)))
        }
        let innermost = places[places.count - 1]
        bytes.insert(contentsOf: box, at: innermost + length(at: innermost))
        for place in places { add(box.count, at: place, bytes: 4) }
        if path.last == "iinf" { add(1, at: innermost + 12, bytes: 2) }
        try movePixels(by: box.count)
    }

    /// Appends a box to the file.
    mutating func append(_ name: String, _ content: [UInt8]) { bytes += Self.box(name, content) }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Bitmap.number(8 + content.count).reversed() + Array(name.utf8) + content
    }

    /// The `iloc` box, which contains the offsets of all items.
    private struct ItemTable {
        let start: Int
        let version: UInt8
        let (offsetSize, lengthSize, baseSize, indexSize): (Int, Int, Int, Int)

        init(_ file: HEIFFile) throws {
            let meta = try file.place(of: "meta", within: 0..<file.bytes.count)
            start = try file.place(of: "iloc", within: meta + 12..<meta + file.length(at: meta))
            version = file.bytes[start + 8]
            let (sizes, more) = (Int(file.bytes[start + 12]), Int(file.bytes[start + 13]))
            (offsetSize, lengthSize, baseSize, indexSize) = (sizes >> 4, sizes & 15, more >> 4, more & 15)
        }
    }

    private mutating func movePixels(by distance: Int) throws {
        let table = try ItemTable(self)
        var at = table.start + 16
        for _ in 0..<number(at: table.start + 14, bytes: 2) {
            let isInFile = table.version == 0 || number(at: at + 2, bytes: 2) == 0
            at += (table.version == 0 ? 4 : 6) + table.baseSize
            let extents = number(at: at, bytes: 2)
            at += 2
            for _ in 0..<extents {
                if isInFile { add(distance, at: at + table.indexSize, bytes: table.offsetSize) }
                at += table.indexSize + table.offsetSize + table.lengthSize
            }
        }
    }

    private func place(of name: String, within range: Range<Int>) throws -> Int {
        var at = range.lowerBound
        while at < range.upperBound {
            if self.name(at: at) == name { return at }
            at += length(at: at)
        }
        throw Unexpected("the HEIF has no \(name)")
    }

    private func name(at place: Int) -> String { String(decoding: bytes[place + 4..<place + 8], as: UTF8.self) }
    private func length(at place: Int) -> Int { number(at: place, bytes: 4) }
    private func number(at place: Int, bytes count: Int) -> Int {
        bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func add(_ number: Int, at place: Int, bytes count: Int) {
        let sum = self.number(at: place, bytes: count) + number
        for index in 0..<count { bytes[place + index] = UInt8(sum >> (8 * (count - 1 - index)) & 255) }
    }
}
