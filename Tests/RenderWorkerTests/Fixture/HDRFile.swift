import Foundation
import Testing

/// A JPEG with a gain map, made and read without the worker's own code.
struct HDRFile {
    /// The kinds of metadata that describe the gain map.
    enum Form: CaseIterable { case ultraHDR, iso, both, apple }

    /// The numbers of one channel, with gains as binary logarithms.
    struct Channel: Equatable {
        var least = -0.5
        var most = 2.5
        var gamma = 1.0
        var offset = 0.015625
        var alternateOffset = 0.015625
    }

    var form = Form.both
    var channels = [Channel()]
    var headroom = 2.5
    /// The gain map's JPEG without the metadata that describes it.
    var map: [UInt8]
    /// The length that the file claims for the gain map, if it is not the true length.
    var claimedLength: Int?
    var hasIndex = true
    /// Additional attributes in the XMP of a gain map in Apple's form.
    var appleProperties = ""
    /// Additional XMP of the picture, within `rdf:RDF`.
    var otherXMP = ""

    init(_ map: TemporaryFile) throws { self.map = try map.bytes }

    /// Returns a photograph in soft colours whose highlights are on the right. The gain map's sides are a quarter of
    /// the picture's.
    static func photograph(
        _ width: Int = 400, _ height: Int = 240, coloured: Bool = false, orientation: Int = 1,
        _ change: (inout HDRFile) -> Void = { _ in }
    ) throws -> TemporaryFile {
        var file = try HDRFile(gains(width / 4, height / 4, coloured: coloured).file(.jpeg, strip: true))
        change(&file)
        return try file.file(of: Pixels.colourful(width, height)) { $0.set("orientation", orientation) }
    }

    /// Returns samples of a gain map that vary smoothly in both directions.
    static func gains(_ width: Int, _ height: Int, coloured: Bool = false) -> Pixels {
        Pixels(width, height) { x, y in
            let (right, down) = (Double(x) / Double(width), Double(y) / Double(height))
            let grey = Int(20 + 180 * right * right + 50 * down)
            return coloured ? [grey, Int(40 + 150 * down), Int(200 - 120 * right)] : [grey]
        }
    }

    func file(of picture: Pixels, prepare: (VipsPicture) -> Void = { _ in }) throws -> TemporaryFile {
        let main = try picture.file(.jpeg) { picture in
            prepare(picture)
            return picture
        }
        return try TemporaryFile(whole(main.bytes))
    }

    /// Returns the file that consists of this main picture and the gain map.
    func whole(_ main: [UInt8]) -> [UInt8] {
        let map = described(map)
        var announced: [UInt8] = []
        let hdrgm = "xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0'"
        let container =
            "<rdf:Description \(hdrgm) xmlns:Container='http://ns.google.com/photos/1.0/container/' "
            + "xmlns:Item='http://ns.google.com/photos/1.0/container/item/'><Container:Directory><rdf:Seq>"
            + "<rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic='Primary' Item:Mime='image/jpeg'/></rdf:li>"
            + "<rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic='GainMap' Item:Mime='image/jpeg' "
            + "Item:Length='\(claimedLength ?? map.count)'/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>"
        if form == .ultraHDR || form == .both || !otherXMP.isEmpty {
            announced += Self.xmp(otherXMP + (form == .iso || form == .apple ? "" : container))
        }
        if form == .iso || form == .both { announced += Self.segment(0xe2, Self.urn + [0, 0, 0, 0]) }
        let start = main.prefix(2) + announced
        guard hasIndex else { return start + main.dropFirst(2) + map }
        let length = start.count + 90 + main.count - 2
        func long(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        let index =
            Array("MPF\0MM\0*\0\0\0\u{8}\0\u{3}".utf8) + [0xb0, 0, 0, 7, 0, 0, 0, 4] + Array("0100".utf8)
            + [0xb0, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0xb0, 2, 0, 7, 0, 0, 0, 32, 0, 0, 0, 50, 0, 0, 0, 0]
            + [0, 3, 0, 0] + long(length) + long(0) + long(0) + long(0) + long(claimedLength ?? map.count)
            + long(length - start.count - 8) + long(0)
        return start + Self.segment(0xe2, index) + main.dropFirst(2) + map
    }

    /// Inserts the metadata that describe the gain map into the map's JPEG.
    private func described(_ map: [UInt8]) -> [UInt8] {
        var markers: [UInt8] = []
        if form == .ultraHDR || form == .both {
            func values(_ name: String, _ value: (Channel) -> Double) -> String {
                let all = channels.map { "<rdf:li>\(value($0))</rdf:li>" }.joined()
                return "<hdrgm:\(name)><rdf:Seq>\(all)</rdf:Seq></hdrgm:\(name)>"
            }
            func attribute(_ name: String, _ value: (Channel) -> Double) -> String {
                " hdrgm:\(name)='\(value(channels[0]))'"
            }
            let make = channels.count == 1 ? attribute : values
            let numbers =
                make("GainMapMin", \.least) + make("GainMapMax", \.most) + make("Gamma", \.gamma)
                + make("OffsetSDR", \.offset) + make("OffsetHDR", \.alternateOffset)
            let start =
                "<rdf:Description xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0' "
                + "hdrgm:HDRCapacityMin='0' hdrgm:HDRCapacityMax='\(headroom)' hdrgm:BaseRenditionIsHDR='False'"
            markers += Self.xmp(
                channels.count == 1 ? "\(start)\(numbers)/>" : "\(start)>\(numbers)</rdf:Description>")
        }
        if form == .iso || form == .both { markers += Self.segment(0xe2, Self.urn + iso) }
        if form == .apple {
            markers += Self.xmp(
                "<rdf:Description xmlns:apdi='http://ns.apple.com/pixeldatainfo/1.0/' "
                    + "xmlns:HDRGainMap='http://ns.apple.com/HDRGainMap/1.0/' HDRGainMap:HDRGainMapVersion='131072' \(appleProperties) "
                    + "apdi:AuxiliaryImageType='urn:com:apple:photo:2020:aux:hdrgainmap'/>")
        }
        return map.prefix(2) + markers + map.dropFirst(2)
    }

    /// The numbers as ISO 21496-1 stores them: as fractions with the denominator 1,000,000.
    var iso: [UInt8] {
        func fraction(_ number: Double) -> [UInt8] {
            [Int32((number * 1_000_000).rounded()), 1_000_000].flatMap { number in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
            }
        }
        return [0, 0, 0, 0, channels.count == 3 ? 0xc0 : 0x40] + fraction(0) + fraction(headroom)
            + channels.flatMap {
                [$0.least, $0.most, $0.gamma, $0.offset, $0.alternateOffset].flatMap(fraction)
            }
    }

    static let urn = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    private static func xmp(_ description: String) -> [UInt8] {
        let packet =
            "<?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
            + "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\(description)</rdf:RDF></x:xmpmeta>"
            + "<?xpacket end='w'?>"
        return segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0\(packet)".utf8))
    }

    static func segment(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, kind, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }
}

/// A file as an HDR screen shows it: its picture in linear light, brightened by its gain map.
struct HDRRendition {
    let picture: Pixels
    let map: Pixels
    private(set) var channels: [HDRFile.Channel]

    init(_ file: TemporaryFile) throws {
        let bytes = try file.bytes
        let part = try Self.map(in: bytes)
        picture = try Pixels(file)
        map = try Pixels(TemporaryFile(part))
        channels = try Self.numbers(in: part)
    }

    /// Finds the gain map through the file's index; returns its bytes.
    static func map(in bytes: [UInt8]) throws -> [UInt8] {
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let mark = Array("MPF\0MM\0*".utf8)
        guard let at = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else {
            throw Unexpected("the file has no index of pictures")
        }
        let (header, entries) = (at + 4, at + 4 + number(at + 4 + 42))
        let (length, start) = (number(entries + 20), header + number(entries + 24))
        guard number(entries + 4) == start, start + length == bytes.count else {
            throw Unexpected("the index names \(number(entries + 4)), \(start) and \(length) of \(bytes.count) bytes")
        }
        return Array(bytes[start..<start + length])
    }

    /// Returns the channels' numbers from the XMP. The ISO 21496-1 metadata must contain the same numbers.
    private static func numbers(in map: [UInt8]) throws -> [HDRFile.Channel] {
        let text = String(decoding: map, as: UTF8.self)
        func values(_ name: String) throws -> [Double] {
            if let attribute = text.firstMatch(of: try Regex("hdrgm:\(name)=[\"']([-0-9.e]+)[\"']")) {
                return [try #require(Double(attribute[1].substring ?? ""))]
            }
            let list = try #require(text.firstMatch(of: try Regex("<hdrgm:\(name)><rdf:Seq>(.*?)</rdf:Seq>")))
            let items = (list[1].substring ?? "").matches(of: try Regex("[-0-9.e]*[0-9]"))
            return items.compactMap { Double($0[0].substring ?? "") }
        }
        let (least, most, gamma) = (try values("GainMapMin"), try values("GainMapMax"), try values("Gamma"))
        let (offset, alternate) = (try values("OffsetSDR"), try values("OffsetHDR"))
        let count = [least, most, gamma, offset, alternate].map(\.count).max() ?? 1
        let channels = (0..<count).map { index in
            HDRFile.Channel(
                least: least[index % least.count], most: most[index % most.count], gamma: gamma[index % gamma.count],
                offset: offset[index % offset.count], alternateOffset: alternate[index % alternate.count])
        }
        return channels
    }

    /// Returns the linear value of a pixel's channel on a screen with unlimited headroom.
    func light(_ x: Int, _ y: Int, _ channel: Int) -> Double {
        let pixel = picture[x, y]
        let numbers = channels[min(channel, channels.count - 1)]
        return (Self.linear(pixel[min(channel, pixel.count - 1)]) + numbers.offset) * exp2(gain(x, y, channel))
            - numbers.alternateOffset
    }

    /// Returns the gain at a pixel, as a binary logarithm.
    func gain(_ x: Int, _ y: Int, _ channel: Int) -> Double {
        let numbers = channels[min(channel, channels.count - 1)]
        let across = (Double(x) + 0.5) / Double(picture.width) * Double(map.width) - 0.5
        let down = (Double(y) + 0.5) / Double(picture.height) * Double(map.height) - 0.5
        func sample(_ x: Int, _ y: Int) -> Double {
            let samples = map[min(max(x, 0), map.width - 1), min(max(y, 0), map.height - 1)]
            return Double(samples[min(channel, samples.count - 1)])
        }
        let (left, top) = (Int(across.rounded(.down)), Int(down.rounded(.down)))
        let (x, y) = (across - Double(left), down - Double(top))
        let upper = sample(left, top) * (1 - x) + sample(left + 1, top) * x
        let lower = sample(left, top + 1) * (1 - x) + sample(left + 1, top + 1) * x
        let part = pow((upper * (1 - y) + lower * y) / 255, 1 / numbers.gamma)
        return numbers.least + (numbers.most - numbers.least) * part
    }

    static func linear(_ value: Int) -> Double {
        let x = Double(value) / 255
        return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4)
    }
}
