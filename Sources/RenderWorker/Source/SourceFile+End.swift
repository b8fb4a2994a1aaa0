extension SourceFile {
    /// Whether the file goes to its end, by its format's own signs. A TIFF has none; in our own results the directory
    /// lies at the end.
    var isWhole: Bool {
        switch format {
        case .jpeg: exactly(size - 2, 2) == [0xff, 0xd9]
        case .png: exactly(size - 8, 4) == Array("IEND".utf8)
        case .gif: hasAllBlocks
        case .webp: exactly(4, 4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } + 8 <= size } ?? false
        case .heif, .avif: Boxes.areWhole(size: size, exactly)
        case .bmp: (try? bmp).map { $0.end <= size } ?? false
        // Decoding tells.
        case .tiff, .raw: true
        }
    }

    private var hasAllBlocks: Bool {
        var blocks = GIFBlocks(size: size, exactly)
        return blocks.areWhole()
    }
}
