extension SourceFile {
    /// Whether the file goes to its end, by its format's own signs. A TIFF has none; in our own results the directory
    /// lies at the end.
    var isWhole: Bool {
        switch format {
        case .jpeg: exactly(size - 2, 2) == [0xff, 0xd9]
        case .png: exactly(size - 8, 4) == Array("IEND".utf8)
        case .gif: hasAllBlocks
        case .webp: exactly(4, 4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } + 8 <= size } ?? false
        case .heif, .avif: boxesAreWhole
        case .tiff: true
        }
    }

    private var hasAllBlocks: Bool {
        var blocks = GIFBlocks(size: size, exactly)
        return blocks.areWhole()
    }

    private var boxesAreWhole: Bool {
        var at = 0
        // The bound is many times the number of blocks in a real picture.
        for _ in 0..<100 where at < size {
            guard let head = exactly(at, 4) else { return false }
            let length = head.reduce(0) { $0 << 8 | Int($1) }
            // A length of 0 reaches to the end; with 1 the length is elsewhere.
            guard length >= 8 else { return true }
            at += length
        }
        return at <= size
    }
}
