import WorkerProtocol

extension SourceFile {
    /// Whether the file is complete, according to the rules of its format. Bytes after the end do no harm.
    var isWhole: Bool {
        switch format {
        case .jpeg: hasAllSegments
        case .png: PNGEnd(size: size, exactly) == nil
        case .gif: hasAllBlocks
        case .webp: exactly(4, 4).map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } + 8 <= size } ?? false
        case .heif, .avif: Boxes.areWhole(size: size, exactly)
        // If the header is invalid, the end is unknown.
        case .bmp: (try? bmp).map { $0.end <= size } ?? true
        case .tiff: tiffDirectory?.hasAllBlocks(within: size) ?? false
        // Only decoding can find a missing end.
        case .raw: true
        }
    }

    /// Refuses a truncated file, unless the recipe accepts it. Decoders that read row by row stop at the last row that
    /// a result needs, and don't notice that later rows are missing. The decoders of other formats read the whole file.
    func refuseMissingEnd() throws {
        guard !acceptsDamage, [.jpeg, .png, .gif, .tiff, .bmp].contains(format), !isWhole else { return }
        throw WorkerFailure(reading: VipsError(lines: []), of: format, isCut: true, accepted: acceptsDamage)
    }

    private var hasAllSegments: Bool {
        var segments = JPEGSegments(file: FileWindow(size: size, exactly))
        return segments.areWhole()
    }

    private var hasAllBlocks: Bool {
        var blocks = GIFBlocks(file: FileWindow(size: size, exactly))
        return blocks.areWhole()
    }
}

extension TIFFDirectory {
    /// Whether all strips or tiles of the picture end within the file. A single strip is not checked, because libtiff
    /// does not trust its length either.
    fileprivate func hasAllBlocks(within size: Int) -> Bool {
        let (strips, tiles) = ((offsets: 273, lengths: 279), (offsets: 324, lengths: 325))
        // A limit far above the number of blocks in a real picture.
        let most = 1 << 20
        return [strips, tiles].allSatisfy { tags in
            let (offsets, lengths) = (numbers(tags.offsets, most: most), numbers(tags.lengths, most: most))
            return offsets.count < 2
                || zip(offsets, lengths).allSatisfy { offset, length in
                    length <= size && offset <= size - length
                }
        }
    }
}
