import CVips

/// Operations that many filters use as their first or last step.
extension Image {
    /// Applies `body` to the colour bands alone, then adds the unchanged alpha band. The result has the input's format.
    public func keepingAlpha(_ body: (Image) throws -> Image) throws -> Image {
        guard hasAlpha else { return try body(self).rounded(to: format) }
        let made = try body(extractBand(0, count: colours)).rounded(to: format)
        return try made.bandjoin(extractBand(bands - 1)).copy(interpretation: made.interpretation)
    }

    /// Converts the samples to another format, and rounds fractions.
    public func rounded(to format: String) throws -> Image {
        if self.format == format { return self }
        let isFloating = self.format == "float" || self.format == "double"
        return try (isFloating ? rint() : self).cast(format)
    }

    /// Computes Rec. 601 luma of the gamma-encoded values, as one grey band: the luma of `Traits.lumaOnly`. Keeps
    /// alpha.
    public func luma() throws -> Image {
        let grey = is16Bit ? "grey16" : "b-w"
        return try keepingAlpha { image in
            guard image.colours == 3 else { return image }
            return try image.recomb([[0.299, 0.587, 0.114]]).rounded(to: image.format)
                .copy(interpretation: grey)
        }
    }

    /// Maps each sample through `curve`, whose argument and result range from 0 (black) to 1 (white). Keeps alpha.
    public func curve(_ curve: (Double) -> Double) throws -> Image {
        try keepingAlpha { image in
            let most = image.white
            let table = try Image.row((0...Int(most)).map { min(max(curve(Double($0) / most), 0), 1) * most })
            return try image.maplut(table.rounded(to: image.format))
        }
    }

    /// Creates a libvips matrix for operations such as `recomb` and `conv`.
    public static func matrix(_ rows: [[Double]]) throws -> Image {
        let width = rows.first?.count ?? 0
        guard width > 0, rows.allSatisfy({ $0.count == width }) else {
            throw FilterError("the rows of a matrix must have the same length")
        }
        let values = rows.flatMap(\.self)
        guard let image = vips_image_new_matrix_from_array(Int32(width), Int32(rows.count), values, Int32(values.count))
        else { throw FilterError("libvips can't create the matrix") }
        return Image(owning: image)
    }

    private static func row(_ values: [Double]) throws -> Image {
        try matrix([values])
    }
}
