import Glibc

/// The numbers that say how a gain map brightens its picture, as ISO 21496-1 and Adobe's XMP define them. Gains and
/// headrooms are binary logarithms.
struct GainMapNumbers: Equatable {
    struct Channel: Equatable {
        /// The gains of the map's darkest and brightest sample.
        var least: Double
        var most: Double
        var gamma: Double
        /// Added to the picture's linear values before the gain is applied.
        var offset: Double
        var alternateOffset: Double
    }

    /// One channel for all colours, or three channels for red, green and blue.
    var channels: [Channel]
    /// The headroom of a screen that shows the picture without any gain, and the headroom of a screen that applies the
    /// full gain.
    var headroom: Double
    var alternateHeadroom: Double
    /// Whether the picture is made for HDR screens, so that the map darkens it for other screens.
    var isBaseHDR = false
    /// Whether the gains apply to the colours of the picture, rather than to the colours of the map's own profile.
    var usesBaseColours = true

    /// The gain of a sample from 0 to 255.
    func gain(_ sample: Int, channel: Int) -> Double {
        let channel = channels[min(channel, channels.count - 1)]
        return channel.least + (channel.most - channel.least) * pow(Double(sample) / 255, 1 / channel.gamma)
    }

    /// The sample whose gain is nearest to `gain`.
    func sample(of gain: Double, channel: Int) -> UInt8 {
        let channel = channels[min(channel, channels.count - 1)]
        guard channel.most > channel.least else { return 0 }
        let part = min(1, max(0, (gain - channel.least) / (channel.most - channel.least)))
        return UInt8((255 * pow(part, channel.gamma)).rounded())
    }

    /// The weights of red, green and blue in luma.
    static let weights = [0.299, 0.587, 0.114]

    /// The numbers of a map whose gains are the weighted sum of the channels' gains.
    var ofLuma: GainMapNumbers {
        func sum(_ value: (Channel) -> Double) -> Double {
            Self.weights.indices.map { Self.weights[$0] * value(channels[min($0, channels.count - 1)]) }.reduce(0, +)
        }
        var result = self
        result.channels = [
            Channel(
                least: sum(\.least), most: sum(\.most), gamma: 1, offset: sum(\.offset),
                alternateOffset: sum(\.alternateOffset))
        ]
        return result
    }

    private mutating func joinChannels() {
        if channels.allSatisfy({ $0 == channels[0] }) { channels = [channels[0]] }
    }

    /// Whether all numbers are plausible. A number far beyond any real screen or picture means damage.
    private var areUsable: Bool {
        let areChannels = channels.allSatisfy { channel in
            [channel.least, channel.most, channel.offset, channel.alternateOffset].allSatisfy { abs($0) <= 64 }
                && (0.01...100).contains(channel.gamma) && channel.most >= channel.least
        }
        return areChannels && [1, 3].contains(channels.count)
            && (0...64).contains(headroom) && (0...64).contains(alternateHeadroom)
    }
}

/// Adobe's XMP, which Ultra HDR uses.
extension GainMapNumbers {
    static let space = "http://ns.adobe.com/hdr-gain-map/1.0/"

    /// Nil if the packet contains no usable numbers.
    init?(xmp: [UInt8]) {
        func texts(_ name: String) -> [String]? {
            XMPPacket.texts(of: XMPPacket.Name(space: Self.space, local: name), in: xmp)
        }
        func values(_ name: String, _ usual: Double?) -> [Double]? {
            guard let texts = texts(name) else { return usual.map { [$0] } }
            let values = texts.compactMap(Double.init)
            return values.count == texts.count && [1, 3].contains(values.count) ? values : nil
        }
        guard let most = values("GainMapMax", nil), let least = values("GainMapMin", 0),
            let gamma = values("Gamma", 1), let offset = values("OffsetSDR", 1.0 / 64),
            let alternate = values("OffsetHDR", 1.0 / 64), let capacity = values("HDRCapacityMax", nil)?.first,
            let leastCapacity = values("HDRCapacityMin", 0)?.first
        else { return nil }
        let all = [least, most, gamma, offset, alternate]
        channels = (0..<(all.map(\.count).max() ?? 1)).map { index in
            func value(_ values: [Double]) -> Double { values[min(index, values.count - 1)] }
            return Channel(
                least: value(least), most: value(most), gamma: value(gamma), offset: value(offset),
                alternateOffset: value(alternate))
        }
        (headroom, alternateHeadroom) = (leastCapacity, capacity)
        joinChannels()
        isBaseHDR = texts("BaseRenditionIsHDR")?.first?.lowercased() == "true"
        guard areUsable else { return nil }
    }

    /// The XMP packet for the gain map's own JPEG.
    var xmp: [UInt8] {
        var (attributes, elements) = ("", "")
        func add(_ name: String, _ values: [Double]) {
            guard Set(values).count > 1 else { return attributes += " hdrgm:\(name)=\"\(values[0])\"" }
            let items = values.map { "<rdf:li>\($0)</rdf:li>" }.joined()
            elements += "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
        }
        add("GainMapMin", channels.map(\.least))
        add("GainMapMax", channels.map(\.most))
        add("Gamma", channels.map(\.gamma))
        add("OffsetSDR", channels.map(\.offset))
        add("OffsetHDR", channels.map(\.alternateOffset))
        add("HDRCapacityMin", [headroom])
        add("HDRCapacityMax", [alternateHeadroom])
        return XMPPacket.packet(
            of: """
                <rdf:Description rdf:about="" xmlns:hdrgm="\(Self.space)" hdrgm:Version="1.0"\(attributes) \
                hdrgm:BaseRenditionIsHDR="\(isBaseHDR ? "True" : "False")">\(elements)</rdf:Description>
                """)
    }
}

/// The binary form of ISO 21496-1.
extension GainMapNumbers {
    static let urn = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
    /// The version field alone. In the markers of the main picture, it announces a gain map.
    static let version: [UInt8] = [0, 0, 0, 0]

    private static let (multichannel, baseColours, backward, commonDenominator): (UInt8, UInt8, UInt8, UInt8) =
        (1 << 7, 1 << 6, 1 << 2, 1 << 3)

    /// Nil if the bytes contain no usable numbers.
    init?(iso bytes: ArraySlice<UInt8>) {
        var rest = bytes
        func next() -> UInt32? {
            guard rest.count >= 4 else { return nil }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
        // A minimum version other than 0 means that this reader can't understand the remaining fields.
        guard bytes.count > 5, bytes.prefix(2).allSatisfy({ $0 == 0 }) else { return nil }
        let flags = bytes[bytes.startIndex + 4]
        rest = bytes.dropFirst(5)
        var common: UInt32?
        if flags & Self.commonDenominator != 0 {
            guard let next = next() else { return nil }
            common = next
        }
        func fraction(isSigned: Bool = false) -> Double? {
            guard let over = next(), let under = common ?? next(), under > 0 else { return nil }
            return (isSigned ? Double(Int32(bitPattern: over)) : Double(over)) / Double(under)
        }
        guard let headroom = fraction(), let alternate = fraction() else { return nil }
        (self.headroom, alternateHeadroom, channels) = (headroom, alternate, [])
        for _ in 0..<(flags & Self.multichannel != 0 ? 3 : 1) {
            guard let least = fraction(isSigned: true), let most = fraction(isSigned: true), let gamma = fraction(),
                let offset = fraction(isSigned: true), let alternate = fraction(isSigned: true)
            else { return nil }
            channels.append(
                Channel(least: least, most: most, gamma: gamma, offset: offset, alternateOffset: alternate))
        }
        joinChannels()
        usesBaseColours = flags & Self.baseColours != 0
        isBaseHDR = flags & Self.backward != 0 || headroom > alternateHeadroom
        guard areUsable else { return nil }
    }

    /// The binary form of the numbers.
    var iso: [UInt8] {
        let flags =
            (channels.count == 1 ? 0 : Self.multichannel) | (usesBaseColours ? Self.baseColours : 0)
            | (isBaseHDR ? Self.backward : 0)
        var bytes = Self.version + [flags] + Self.fraction(headroom) + Self.fraction(alternateHeadroom)
        for channel in channels {
            for number in [channel.least, channel.most, channel.gamma, channel.offset, channel.alternateOffset] {
                bytes += Self.fraction(number)
            }
        }
        return bytes
    }

    /// Returns the number as a fraction whose denominator is a power of ten, as exact as 32 bits allow.
    private static func fraction(_ number: Double) -> [UInt8] {
        var under = 100_000_000.0
        while abs(number) * under >= Double(Int32.max) { under /= 10 }
        let form = TIFFForm(isBigEndian: true, isBig: false)
        return form.bytes(Int((number * under).rounded()), 4) + form.bytes(Int(under), 4)
    }
}
