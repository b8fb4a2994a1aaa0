/// Checks whether a JPEG is complete: follows its segments and the coded pixels after them to the end marker. A decoder
/// would not notice a missing end, because it does not look beyond the last requested row.
struct JPEGSegments {
    var file: FileWindow

    private static let (escape, end): (UInt8, UInt8) = (0xff, 0xd9)

    /// Whether the segments reach the end marker. Bytes after the end marker do no harm: phones put videos there.
    mutating func areWhole() -> Bool { end(from: 0) != nil }

    /// The place after the end marker of the JPEG that begins at `start`.
    mutating func end(from start: Int) -> Int? {
        var at = start + 2
        while let (place, kind) = marker(from: at) {
            if kind == Self.end { return place + 2 }
            guard let high = file.byte(place + 2), let low = file.byte(place + 3) else { return nil }
            at = place + 2 + max(2, Int(high) << 8 + Int(low))
        }
        return nil
    }

    /// The next marker that begins a segment or ends the picture. Skips the markers within coded pixels. Within coded
    /// pixels, an escape byte followed by zero stands for the escape byte itself, and restart markers have no length.
    private mutating func marker(from start: Int) -> (place: Int, kind: UInt8)? {
        var at = start
        while let place = file.place(of: Self.escape, from: at), let kind = file.byte(place + 1) {
            switch kind {
            case 0, 1, 0xd0...0xd8: at = place + 2
            case Self.escape: at = place + 1
            default: return (place, kind)
            }
        }
        return nil
    }
}
