import CJPEGPlanes
import PipelineModel

/// Makes the gain maps of a picture's results, all from one decoding of the source's gain map.
final class GainMaps {
    let finding: GainMap.Finding
    /// The plan of each output.
    let plans: [GainMapPlan]
    private let source: SourceFile
    private let stored: (width: Int, height: Int)
    private let resizers: Resizers
    /// The decoded map, or why it can't be decoded.
    private var decoded: Result<Planes, Loss>?

    private struct Loss: Error {
        var reason: String
    }

    init(
        _ finding: GainMap.Finding, _ plans: [GainMapPlan], of source: SourceFile, _ width: Int, _ height: Int,
        _ resizers: Resizers
    ) {
        (self.finding, self.plans, self.source, self.resizers) = (finding, plans, source, resizers)
        stored = (width, height)
    }

    /// `picture` is the header of `source`, and `stages` has all stages of each output, from the original to the
    /// result.
    convenience init(
        of source: SourceFile, _ picture: Picture, _ stages: [[Stage]], _ filters: FilterLibrary, _ resizers: Resizers
    ) {
        let (width, height) = (picture.width, picture.height)
        let isPromised = picture.dropped.contains(AttachedPart.gainMap.rawValue)
        let finding = source.gainMap(width, height, isPromised: isPromised)
        let plans = stages.map {
            GainMapPlan(finding, $0, stored: width, height, orientation: picture.orientation, filters)
        }
        self.init(finding, plans, of: source, width, height, resizers)
    }

    /// The gain map of a result, or the reason why the result has none.
    enum Outcome {
        case none
        case file(GainMapFile)
        /// Why the result loses the gain map, in words.
        case lost(String)

        var file: GainMapFile? { if case .file(let file) = self { file } else { nil } }

        /// The outcome in words, for the job's story; nil if there is nothing to say.
        var words: String? {
            switch self {
            case .none: nil
            case .file(let file): "with gain map \(file.width) × \(file.height)"
            case .lost(let reason): "without gain map: \(reason)"
            }
        }
    }

    /// Makes the gain map for an output. `most` is the limit on the length of the output's file, in bytes.
    func make(_ output: Int, most: Int?) -> Outcome {
        guard case .kept(let placement) = plans[output], case .found(let map) = finding else {
            if case .lost(let reason) = plans[output] { return .lost(reason) }
            return .none
        }
        do throws(Loss) {
            let file = try made(map, placement)
            // Reserve at least three quarters of the limit for the picture itself.
            if let most, file.jpeg.count > most / 4 {
                throw Loss(reason: "it would take more than a quarter of max-bytes=")
            }
            return .file(file)
        } catch {
            return .lost(error.reason)
        }
    }

    /// Bytes needed to decode the source's map, plus bytes to make the map and the file of one result. Only the result
    /// that needs most memory counts.
    var memory: Int {
        guard case .found(let map) = finding, !placements.isEmpty else { return 0 }
        let results = placements.map { placement in
            let size = size(of: map, placement)
            let isDecoded =
                shrink == 1 && placement.part.width == 1 && placement.part.height == 1
                && size.placedWidth * size.placedHeight == map.width * map.height
            let copies = [!isDecoded, !placement.turn.isNone, size.isFramed].count { $0 }
            // Count copies of two encoded files: the map's file and the picture's file.
            return size.width * size.height * (map.isGrey ? 1 : 3) * copies + map.place.count * 3
                + placement.width * placement.height / 4
        }
        return map.memory(shrink: shrink) + (results.max() ?? 0)
    }

    private var placements: [GainMapPlacement] {
        plans.compactMap { if case .kept(let placement) = $0 { placement } else { nil } }
    }

    private func size(of map: GainMap, _ placement: GainMapPlacement) -> GainMapPlacement.Size {
        placement.size(ofMap: (map.width, map.height), of: stored)
    }

    /// The largest factor by which the decoder can shrink the map and still provide enough samples for every result.
    private var shrink: Int {
        guard case .found(let map) = finding else { return 1 }
        return [8, 4, 2].first { shrink in
            placements.allSatisfy { placement in
                let size = size(of: map, placement)
                let (width, height) =
                    placement.turn.isTurned
                    ? (size.placedHeight, size.placedWidth) : (size.placedWidth, size.placedHeight)
                func serves(_ samples: Int, _ share: Double, _ wanted: Int) -> Bool {
                    Double(samples) * share / Double(shrink) >= Double(max(wanted, 64))
                }
                return serves(map.width, placement.part.width, width)
                    && serves(map.height, placement.part.height, height)
            }
        } ?? 1
    }

    private func decode(_ map: GainMap) throws(Loss) -> Planes {
        let result = decoded ?? Result { () throws(Loss) in try decodeOnce(map) }
        decoded = result
        return try result.get()
    }

    private func decodeOnce(_ map: GainMap) throws(Loss) -> Planes {
        guard let bytes = source.exactly(map.place.lowerBound, map.place.count),
            let planes = JPEGPlanes.decode(bytes, shrink: shrink, withColours: !map.isGrey, by: source.decoders.jpeg)
        else { throw Loss(reason: "its JPEG is damaged, or of an unusual kind") }
        return planes
    }

    private func made(_ map: GainMap, _ placement: GainMapPlacement) throws(Loss) -> GainMapFile {
        let (planes, size) = (try decode(map), size(of: map, placement))
        var form = map.form
        var result = resized(planes, map, placement, size)
        if placement.isLuma, let numbers = form.numbers, !map.isGrey || numbers.channels.count > 1 {
            result = result.flatMap { Self.luma(of: $0, numbers) }
            form = form.with(numbers.ofLuma)
        }
        result = result?.upright(placement.turn)
        if size.isFramed { result = result?.framed(Self.frame(size, form)) }
        guard let encoded = result.flatMap({ JPEGPlanes.encode($0, quality: 90, isProgressive: false) }) else {
            throw Loss(reason: "it can't be resized, or there is no memory for it")
        }
        return GainMapFile(encoded, form, profile: map.profile, size.width, size.height)
    }

    /// Scales the part of the map that the result needs, before that part is turned. The scaled chroma planes have the
    /// size of the luma plane.
    private func resized(
        _ planes: Planes, _ map: GainMap, _ placement: GainMapPlacement, _ size: GainMapPlacement.Size
    ) -> Planes? {
        let (width, height) =
            placement.turn.isTurned ? (size.placedHeight, size.placedWidth) : (size.placedWidth, size.placedHeight)
        // When a decoder shrinks a picture, it rounds the size up, so the last sample may be partial.
        let (across, down) = (Double(map.width) / Double(shrink), Double(map.height) / Double(shrink))
        func resized(_ plane: Plane, _ shared: Planes.Subsampling) -> Plane? {
            let (x, y) = (across / Double(shared.across), down / Double(shared.down))
            let part = placement.part
            let region = Plane.Region(
                left: part.left * x, top: part.top * y, width: part.width * x, height: part.height * y)
            return plane.resized(region, to: width, height, resizers)
        }
        return planes.made(
            .none, resized(planes.luma, .none), planes.colours.map { resized($0, planes.shared) })
    }

    /// The frame around the map. Its gain is 0, so an HDR screen does not brighten the frame.
    private static func frame(_ size: GainMapPlacement.Size, _ form: GainMap.Form) -> Arrangement.Frame {
        func sample(_ channel: Int) -> UInt8 {
            form.numbers?.sample(of: 0, channel: channel) ?? 0
        }
        return Arrangement.Frame(
            width: size.width, height: size.height, left: size.left, top: size.top, red: sample(0), green: sample(1),
            blue: sample(2))
    }

    /// The map of a result without colours. Its samples are a linear function of the gain.
    private static func luma(of planes: Planes, _ numbers: GainMapNumbers) -> Planes? {
        let (all, gains) = (
            numbers.ofLuma.channels[0],
            (0..<3).map { channel in
                (0..<256).map { GainMapNumbers.weights[channel] * numbers.gain($0, channel: channel) }
            }
        )
        guard let luma = Plane(planes.width, planes.height) else { return nil }
        var row = [UInt8](repeating: 0, count: planes.width * 3)
        for y in 0..<planes.height {
            if let blue = planes.colours.first, let red = planes.colours.last {
                jpeg_planes_rgb(planes.luma.row(y), blue.row(y), red.row(y), &row, planes.width)
            } else {
                for x in row.indices { row[x] = planes.luma.row(y)[x / 3] }
            }
            for x in 0..<planes.width {
                let gain = gains[0][Int(row[3 * x])] + gains[1][Int(row[3 * x + 1])] + gains[2][Int(row[3 * x + 2])]
                let part = all.most > all.least ? (gain - all.least) / (all.most - all.least) : 0
                luma.bytes[y * luma.stride + x] = UInt8((255 * min(1, max(0, part))).rounded())
            }
        }
        return Planes(luma: luma, colours: [], shared: .none, range: .full)
    }
}

extension GainMap.Form {
    fileprivate var numbers: GainMapNumbers? {
        switch self {
        case .xmp(let numbers), .iso(let numbers, _): numbers
        case .apple: nil
        }
    }

    /// The same form with other numbers.
    fileprivate func with(_ numbers: GainMapNumbers) -> GainMap.Form {
        switch self {
        case .xmp: .xmp(numbers)
        case .iso: .iso(numbers, nil)
        case .apple: self
        }
    }
}
