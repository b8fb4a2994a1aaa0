import CVips

/// Smaller copies of a TIFF's picture, as pages after it or as subdirectories.
struct TIFFPyramid {
    private enum Place {
        case page(Int)
        case subdirectory(Int)
    }

    private let places: [Int: Place]

    /// Shrink factors of the copies, largest first.
    var shrinks: [Int] { places.keys.sorted(by: >) }

    /// Number of copies that are pages of their own.
    var pages: Int {
        places.values.count { if case .page = $0 { true } else { false } }
    }

    init(_ first: TIFFDirectory?) {
        guard let first else {
            places = [:]
            return
        }
        var places: [Int: Place] = [:]
        var page = 0
        var directory = first
        // Read at most 16 further pages: each smaller copy halves both sides, so no real picture has more copies.
        while page < 16, directory.next > 0, let next = first.directory(at: directory.next) {
            page += 1
            if let shrink = first.shrink(of: next) { places[shrink] = .page(page) }
            directory = next
        }
        let subdirectories = 330
        for (index, offset) in first.numbers(subdirectories).enumerated() {
            guard let copy = first.directory(at: offset), let shrink = first.shrink(of: copy) else { continue }
            places[shrink] = .subdirectory(index)
        }
        self.places = places
    }

    func load(
        _ source: UnsafeMutablePointer<VipsSource>, _ out: Picture.Output, _ failOn: VipsFailOn, shrink: Int
    ) -> Int32 {
        switch places[shrink] {
        case .page(let page): cvips_tiffload(source, out, failOn, Int32(page), -1)
        case .subdirectory(let index): cvips_tiffload(source, out, failOn, 0, Int32(index))
        case nil: cvips_tiffload(source, out, failOn, 0, -1)
        }
    }
}

extension TIFFDirectory {
    /// The factor, a power of two, by which `copy` is smaller. Nil if the file does not declare `copy` as a smaller
    /// copy, or if the samples of `copy` are of another kind.
    fileprivate func shrink(of copy: TIFFDirectory) -> Int? {
        let (kind, width, height, bits, samples) = (254, 256, 257, 258, 277)
        guard let kind = copy.numbers(kind).first, kind & 1 == 1,
            copy.numbers(bits) == numbers(bits), copy.numbers(samples) == numbers(samples),
            let across = numbers(width).first, let down = numbers(height).first,
            let copyAcross = copy.numbers(width).first, let copyDown = copy.numbers(height).first
        else { return nil }
        return [2, 4, 8, 16, 32, 64].first { shrink in
            // Some writers round down, some up.
            (across / shrink...(across + shrink - 1) / shrink).contains(copyAcross)
                && (down / shrink...(down + shrink - 1) / shrink).contains(copyDown)
        }
    }
}
