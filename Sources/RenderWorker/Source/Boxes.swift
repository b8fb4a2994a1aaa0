/// The boxes of which HEIF, AVIF and Canon's CR3 consist.
enum Boxes {
    /// Whether the last of them ends within the file.
    static func areWhole(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Bool {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        var at = 0
        // The bound is many times the number of blocks in a real picture.
        for _ in 0..<100 where at < size {
            guard let head = read(at, 8) else { return false }
            var length = form.number(head[..<4])
            // With a length of 1 the length is a longer number behind the name.
            if length == 1 { length = read(at + 8, 8).map { form.number($0) } ?? 0 }
            // A length of 0 reaches to the end.
            guard length >= 8 else { return true }
            at += length
        }
        return at <= size
    }
}
