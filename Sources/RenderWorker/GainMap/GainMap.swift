import CJPEGPlanes

/// The gain map of a picture: a second, smaller picture in the same file, which specifies how far an HDR screen may
/// brighten each part of the picture.
struct GainMap {
    enum Form: Equatable {
        /// Adobe's XMP, as in Ultra HDR.
        case xmp(GainMapNumbers)
        /// ISO 21496-1: the numbers and, unless they have been changed, their binary form from the file. The file may
        /// contain Adobe's XMP as well.
        case iso(GainMapNumbers, [UInt8]?)
        /// Apple's own form. The map's XMP contains the properties. If the XMP lacks the headroom, the maker notes of
        /// the main picture contain it.
        case apple(xmp: [UInt8], hasHeadroom: Bool)
    }

    /// The position of the map's JPEG in the file.
    let place: Range<Int>
    let width: Int
    let height: Int
    let isGrey: Bool
    /// Whether the map's decoder keeps all coefficients in memory, as for a progressive JPEG.
    private let buffersCoefficients: Bool
    let form: Form
    /// The markers of the map's own profile, which may define the colours to which the gains apply.
    let profile: [UInt8]

    /// A gain map, the reason why the file's gain map can't be used, or neither.
    enum Finding {
        case none
        case found(GainMap)
        case unusable(String)

        /// The finding in words, for the description of the picture.
        var words: String? {
            switch self {
            case .none: nil
            case .found(let map): "gain map \(map.width) × \(map.height)"
            case .unusable: "a gain map that can't be used"
            }
        }
    }

    /// Reads the header of a JPEG within a file. Nil unless that JPEG is a gain map.
    init?(at place: Range<Int>, _ start: [UInt8]) {
        let markers = JPEGMarkers(start)
        let xmp = markers.content(0xe1, JPEGMarkers.xmp).map { Array($0) }
        let iso = markers.content(0xe2, GainMapNumbers.urn)
        if let iso, let numbers = GainMapNumbers(iso: iso) {
            form = .iso(numbers, Array(iso))
        } else if let numbers = xmp.flatMap(GainMapNumbers.init(xmp:)) {
            form = .xmp(numbers)
        } else if let xmp = xmp.flatMap(Self.ofApple) {
            let name = XMPPacket.Name(space: Self.appleSpace, local: "HDRGainMapHeadroom")
            form = .apple(xmp: xmp, hasHeadroom: XMPPacket.texts(of: name, in: xmp) != nil)
        } else {
            return nil
        }
        guard let header = JPEGHeader(start) else { return nil }
        (self.place, width, height) = (place, Int(header.width), Int(header.height))
        isGrey = header.bands == 1
        buffersCoefficients = !jpeg_planes_can_decode(start, start.count)
        profile = markers.all(0xe2, Self.profilePrefix).flatMap { Array($0) }
    }

    /// Returns the packet with nothing but Apple's properties. Nil unless they mark a gain map.
    private static func ofApple(_ xmp: [UInt8]) -> [UInt8]? {
        let own = XMPPacket.cut(xmp) { name in
            !name.space.hasPrefix(appleSpaces) && ![XMPPacket.rdf, XMPPacket.meta].contains(name.space)
        }
        return own.flatMap { $0.contains(text: appleKind) ? $0 : nil }
    }

    /// Bytes needed to decode the map at 1/`shrink` of its size. A coefficient takes two bytes.
    func memory(shrink: Int) -> Int {
        let samples = width * height * (isGrey ? 1 : 3)
        return place.count + samples / (shrink * shrink) + (buffersCoefficients ? samples * 2 : 0)
    }

    static let appleSpace = "http://ns.apple.com/HDRGainMap/1.0/"
    private static let appleSpaces = "http://ns.apple.com/"
    private static let appleKind = "urn:com:apple:photo:2020:aux:hdrgainmap"
    private static let profilePrefix = Array("ICC_PROFILE\0".utf8)
}

extension SourceFile {
    /// Finds the gain map of the file's picture, whose stored size is `width` × `height`. `isPromised` says whether the
    /// file claims to have a gain map. A map is unusable if its decoding needs more than `most` bytes of memory.
    func gainMap(
        _ width: Int, _ height: Int, isPromised: Bool, most: Int = SourceFacts.mostMemory
    ) -> GainMap.Finding {
        guard format == .jpeg else {
            return isPromised ? .unusable("pipelined reads gain maps of a JPEG only") : .none
        }
        guard let map = indexedGainMap ?? (isPromised ? followingGainMap : nil) else {
            return isPromised ? .unusable("the file announces a gain map, but no readable one was found") : .none
        }
        guard map.width <= width, map.height <= height else {
            return .unusable("it is \(map.width) × \(map.height), larger than its picture")
        }
        guard map.memory(shrink: 1) <= most else {
            return .unusable("it is \(map.width) × \(map.height), too large to be held in memory")
        }
        return .found(map)
    }

    /// The gain map that the file's index names.
    private var indexedGainMap: GainMap? {
        let prefix = MultiPictureIndex.prefix
        let segment = jpegSegments.first { $0.kind == 0xe2 && exactly($0.content, prefix.count) == prefix }
        guard let segment, let bytes = exactly(segment.content, segment.length),
            let index = MultiPictureIndex(bytes.dropFirst(prefix.count))
        else { return nil }
        let origin = segment.content + prefix.count
        return index.pictures.dropFirst().lazy.compactMap { picture in
            guard picture.length <= size - origin, picture.start <= size - origin - picture.length else { return nil }
            let start = origin + picture.start
            return gainMap(at: start..<start + picture.length)
        }.first
    }

    /// The gain map that directly follows the main picture, in a file whose index is missing or wrong.
    private var followingGainMap: GainMap? {
        var segments = JPEGSegments(file: FileWindow(size: size, exactly))
        guard let start = segments.end(from: 0), let end = segments.end(from: start) else { return nil }
        return gainMap(at: start..<end)
    }

    private func gainMap(at place: Range<Int>) -> GainMap? {
        guard place.count > 4, exactly(place.lowerBound, 3) == [0xff, 0xd8, 0xff] else { return nil }
        for length in Self.headerLengths {
            guard let start = exactly(place.lowerBound, min(length, place.count)) else { return nil }
            if let map = GainMap(at: place, start) { return map }
            if length >= place.count { break }
        }
        return nil
    }
}
