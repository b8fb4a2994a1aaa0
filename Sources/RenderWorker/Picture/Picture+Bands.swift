import CVips

/// The bands of a picture: its colours, and its alpha.
extension Picture {
    var colourBands: Int { bands - (hasAlpha ? 1 : 0) }

    func withoutAlpha() throws -> Picture {
        guard hasAlpha else { return self }
        let count = Int32(colourBands)
        return try then { cvips_extract_bands($0, $1, 0, count) }
    }

    func alpha() throws -> Picture {
        let last = Int32(bands - 1)
        return try then { cvips_extract_bands($0, $1, last, 1) }
    }

    /// Rec. 601 luma of the gamma-encoded values, as in a JPEG's Y component. Keeps alpha.
    func luma() throws -> Picture {
        guard colourBands == 3 else { return self }
        return try then { cvips_luma($0, $1) }
    }
}
