import CVips
import PipelineModel
import Synchronization
import WorkerProtocol

/// Filters joined into one lookup table. The filters process a picture that contains every sample value once, and the
/// result serves as the lookup table for the real pixels. The table is exact, because each filter's result is rounded
/// as it would be in a real picture.
struct FilterTable {
    let stages: [(stage: Stage, filter: Filter)]

    func apply(to picture: Picture, _ cancellation: Cancellation) throws -> Picture {
        let isOfLuma = stages.first.map { $0.filter.description.traits(of: $0.stage).contains(.lumaOnly) } ?? false
        let colours = try (isOfLuma ? picture.luma() : picture).withoutAlpha()
        let table = try table(for: colours, cancellation)
        guard !(picture.hasAlpha && table.hasAlpha) else {
            throw WorkerFailure(
                stage: stages.map(\.stage.name).joined(separator: " + "),
                message: "a filter that says it leaves alpha as it is added an alpha band to a picture that has one",
                advice: "leave the filter out of the chain, or mend it")
        }
        let result = try colours.then { cvips_maplut($0, $1, table.image) }.interpreted(table.interpretation)
        return try picture.hasAlpha ? result.joined(with: picture.alpha()) : result
    }

    /// The values that `greyValues` computed for an earlier picture with the same chain; nil if there was no such
    /// picture. Always nil if a filter of the chain logs messages, or has a folder of its own, because the folder's
    /// files may change.
    var knownGreyValues: [UInt8]? { Self.known.withLock { $0[stages.map(\.stage)] } }

    /// The result for each value of an 8-bit grey picture. Nil when the filters' result is not 8-bit grey.
    func greyValues(_ cancellation: Cancellation) throws -> [UInt8]? {
        let lines = FilterHost.lines
        guard let values = try madeGreyValues(cancellation) else { return nil }
        let hasFiles = stages.contains { $0.filter.resources != nil }
        if FilterHost.lines == lines, !hasFiles { Self.known.withLock { $0[stages.map(\.stage)] = values } }
        return values
    }

    /// The values of each chain of filters. Never trimmed, because there are few chains: a process has one set of
    /// filters, and exits after a limited number of pictures.
    private static let known = Mutex<[[Stage]: [UInt8]]>([:])

    private func madeGreyValues(_ cancellation: Cancellation) throws -> [UInt8]? {
        let table = try table(for: .blank(1, 1, isGrey: true), cancellation)
        guard table.bands == 1, table.format == VIPS_FORMAT_UCHAR, table.width == 256,
            let pixels = table.image.pointee.data
        else { return nil }
        return withExtendedLifetime(table) { Array(UnsafeBufferPointer(start: pixels, count: 256)) }
    }

    private func table(for colours: Picture, _ cancellation: Cancellation) throws -> Picture {
        var table = try Picture.everyValue(like: colours)
        for (stage, filter) in stages { table = try filter.apply(stage, to: table) }
        try cancellation.check()
        // Compute the table now rather than together with the picture, so that a failure can be attributed to the
        // filters.
        return try table.inMemory()
    }
}

extension Picture {
    /// A picture of 256 or 65536 pixels that contains each value once in each band.
    fileprivate static func everyValue(like picture: Picture) throws -> Picture {
        let isWide: gboolean = picture.format == VIPS_FORMAT_USHORT ? 1 : 0
        let interpretation = picture.interpretation
        return try made { cvips_identity($0, Int32(picture.bands), isWide) }.interpreted(interpretation)
    }
}
