import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A contact sheet: small pictures side by side on a dark background, each with its caption below.
struct Sheet {
    private static let gap: Int32 = 16
    private static let ground = 34.0
    private static let ink = 230.0
    /// Maximum pictures in a single row; more pictures are arranged in several rows.
    private static let mostInRow = 4

    private let request: SheetRequest
    /// Whether this worker draws captions. Drawing needs permission to read fonts.
    private let writes: Bool

    init(_ request: SheetRequest, writes: Bool) {
        (self.request, self.writes) = (request, writes)
    }

    /// `descriptors` contains the files of the small pictures, followed by the sheet's file.
    func compose(_ descriptors: [Descriptor], _ cancellation: Cancellation) throws -> RenderedOutput {
        guard let target = descriptors.last, descriptors.count == request.captions.count + 1, descriptors.count > 1
        else {
            throw WorkerFailure(stage: "sheet", message: "\(descriptors.count) files came with the message")
        }
        let pictures = try descriptors.dropLast().map { try picture($0, cancellation) }
        let save = SaveStage(
            Stage(name: SaveStage.name, arguments: ["format": .text(request.format), "quality": .number(92)]))
        do {
            let sheet = try arranged(pictures)
            return try SavedFile.check(
                target, against: try save.apply(to: sheet, into: target, cancellation), format: request.format)
        } catch let error as VipsError {
            throw WorkerFailure(stage: "sheet", message: error.reason)
        }
    }

    private func picture(_ file: Descriptor, _ cancellation: Cancellation) throws -> Picture {
        let source = try SourceFile(file, name: "a picture of the sheet")
        return try source.reading {
            let colours = try source.picture().then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
            let flat = colours.hasAlpha ? try colours.then { cvips_flatten_grey($0, $1, Self.ground) } : colours
            return try flat.then { cvips_cast($0, $1, VIPS_FORMAT_UCHAR, 0) }.inMemory(cancellation)
        }
    }

    private func arranged(_ pictures: [Picture]) throws -> Picture {
        let width = pictures.map(\.width).max() ?? 1
        let captions = try request.captions.map { try caption($0, width: width) }
        let height = pictures.map(\.height).max() ?? 1
        let captionHeight = captions.compactMap(\.self).map(\.height).max()
        let cells = try zip(pictures, captions).map { picture, caption in
            let upper = try picture.placed(in: width, height, VIPS_COMPASS_DIRECTION_SOUTH, on: Self.ground)
            guard let captionHeight else { return upper }
            let lower =
                try caption?.placed(in: width, captionHeight, VIPS_COMPASS_DIRECTION_NORTH, on: Self.ground)
                ?? Picture.blank(width, captionHeight, isGrey: false).then { cvips_linear_grey($0, $1, 0, Self.ground) }
            return try upper.above(lower, gap: Self.gap / 2, on: Self.ground)
        }
        let across = cells.count <= Self.mostInRow ? cells.count : Int(Double(cells.count).squareRoot().rounded(.up))
        var images: [UnsafeMutablePointer<VipsImage>?] = cells.map(\.image)
        let joined = try withExtendedLifetime(cells) {
            try Picture.made {
                cvips_arrayjoin(&images, $0, Int32(cells.count), Int32(across), Self.gap, Self.ground)
            }
        }
        let margin = 2 * Int(Self.gap)
        return try joined.placed(
            in: joined.width + margin, joined.height + margin, VIPS_COMPASS_DIRECTION_CENTRE, on: Self.ground)
    }

    /// Draws a caption. Nil if the caption is empty, if this worker draws no captions, or if no font can be read.
    private func caption(_ words: String, width: Int) throws -> Picture? {
        guard writes, !words.isEmpty else { return nil }
        guard let escaped = g_markup_escape_text(words, -1) else { return nil }
        defer { g_free(escaped) }
        // Without a font, Pango draws boxes whose size does not depend on the font size.
        let sizes = try [12, 24].map { size in try Picture.made { cvips_text($0, "Mg", "sans \(size)", 0) }.width }
        guard sizes[0] < sizes[1] else { return nil }
        let mask = try Picture.made { cvips_text($0, escaped, "sans 13", Int32(width)) }
        let scale = (Self.ink - Self.ground) / 255
        let grey = try mask.then { cvips_linear_grey($0, $1, scale, Self.ground) }
        return try grey.joined(with: grey, grey).interpreted(VIPS_INTERPRETATION_sRGB)
    }
}

extension Picture {
    fileprivate func placed(
        in width: Int, _ height: Int, _ direction: VipsCompassDirection, on ground: Double
    ) throws -> Picture {
        try then { cvips_gravity($0, $1, direction, Int32(width), Int32(height), ground) }
    }

    fileprivate func above(_ lower: Picture, gap: Int32, on ground: Double) throws -> Picture {
        try withExtendedLifetime(lower) {
            try then { cvips_join_below($0, lower.image, $1, gap, ground) }
        }
    }
}
