import CPipelinePlugin
import CVips
import Glibc
import Synchronization
import Testing

@testable import PluginKit

/// A filter with a parameter of each kind. It writes its arguments into the picture's samples.
private struct EveryKind: Filter {
    enum Corner: String, CaseIterable, Sendable { case topLeft = "top-left", bottom }

    static let summary = "a test"
    static let author: String? = "somebody"
    static let version = "2.1"
    static let traits: Traits = [.pointwise, .changesSize]
    static let atLeastOneOf = ["caption", "count"]

    @Parameter("a number", range: 0.5...2.5, unit: "px") var blurWidth = 1.25
    @Parameter("a whole one", range: -3...7) var count = 4
    @Parameter("yes or no") var isLoud = true
    @Parameter("a colour") var tint = Colour(red: 255, green: 128, blue: 1)
    @Parameter("a text") var caption = "hello"
    @Parameter("a choice") var corner = Corner.bottom
    @Parameter("must be given", range: 0...9) var needed: Int

    func apply(to image: Image) throws -> Image {
        if caption == "complain" { throw FilterError("the caption complains") }
        let values =
            [blurWidth, Double(count), isLoud ? 1 : 0] + tint.bands + [corner == .bottom ? 1 : 0, Double(needed)]
        return try Image.matrix([values])
    }
}

/// A filter that moves the picture's pixels and adds a frame.
private struct Framed: Filter {
    static let summary = "a test"
    static let traits: Traits = [.changesSize, .movesPixels]

    @Parameter("how wide", range: 0...9) var side = 1

    func arrangement(width: Int, height: Int) -> Arrangement? {
        guard side < 9 else { return nil }
        var result = Arrangement(width: width + 2 * side, height: height + side)
        (result.left, result.colour, result.quarters) = (-side, Colour(red: 7, green: 7, blue: 7), 2)
        return result
    }

    func apply(to image: Image) throws -> Image {
        try arrangement(width: image.width, height: image.height).map(image.arranged) ?? image
    }
}

@Suite("PluginKit", .serialized)
struct PluginKitTests {
    init() { vips_init("tests") }

    @Test("a filter's declaration becomes the contract's description")
    func description() throws {
        let filter = export(EveryKind.self).pointee
        #expect(filter.abi == UInt32(PIPELINE_PLUGIN_ABI))
        #expect(filter.filter_size == UInt32(MemoryLayout<PipelineFilter>.size))
        #expect(String(cString: filter.name) == "every-kind")
        #expect(String(cString: filter.version) == "2.1")
        #expect(String(cString: filter.summary) == "a test")
        #expect(filter.author.map { String(cString: $0) } == "somebody")
        #expect(filter.traits == PIPELINE_POINTWISE.rawValue | PIPELINE_CHANGES_SIZE.rawValue)
        #expect((0..<2).map { filter.at_least_one_of?[$0].map { String(cString: $0) } } == ["caption", "count"])
        #expect(filter.at_least_one_of?[2] == nil && filter.at_most_one_of == nil)
        let parameters = (0..<filter.parameter_count).compactMap { filter.parameters?[$0] }
        #expect(
            parameters.map { String(cString: $0.name) }
                == ["blur-width", "count", "is-loud", "tint", "caption", "corner", "needed"])
        #expect(
            parameters.map { $0.default_value.map { String(cString: $0) } }
                == ["1.25", "4", "yes", "#ff8001", "hello", "bottom", nil])
        #expect(parameters[0].minimum == 0.5 && parameters[0].maximum == 2.5)
        #expect(parameters[0].unit.map { String(cString: $0) } == "px")
        #expect(parameters[1].minimum == -3 && parameters[1].maximum == 7)
        #expect(
            parameters.map(\.type.rawValue)
                == [
                    PIPELINE_NUMBER, PIPELINE_INTEGER, PIPELINE_BOOLEAN, PIPELINE_COLOUR, PIPELINE_TEXT,
                    PIPELINE_CHOICE,
                    PIPELINE_INTEGER,
                ].map(\.rawValue))
        let choices = try #require(parameters[5].choices)
        #expect((0..<2).map { choices[$0].map { String(cString: $0) } } == ["top-left", "bottom"])
        #expect(choices[2] == nil)
    }

    @Test("arguments reach the properties, and thrown errors reach the host")
    func arguments() throws {
        let texts = ["#010203", "hello", "top-left"].map { strdup($0 as String) }
        defer { for text in texts { free(text) } }
        let values = [
            PipelineValue(number: 2, text: nil), PipelineValue(number: -1, text: nil),
            PipelineValue(number: 0, text: nil), PipelineValue(number: 0, text: texts[0]),
            PipelineValue(number: 0, text: texts[1]), PipelineValue(number: 0, text: texts[2]),
            PipelineValue(number: 9, text: nil),
        ]
        #expect(try applied(export(EveryKind.self), values).pixels == [2, -1, 0, 1, 2, 3, 0, 9])
        let complaint = strdup("complain")
        defer { free(complaint) }
        var other = values
        other[4].text = UnsafePointer(complaint)
        let error = #expect(throws: FilterError.self) { try applied(export(EveryKind.self), other) }
        #expect(error?.description == "the caption complains")
    }

    @Test("a filter that moves pixels describes the moves to the host, and makes the same moves")
    func arrangement() throws {
        let filter = export(Framed.self).pointee
        let arrange = try #require(filter.arrange)
        let folder = try #require(strdup("/nowhere"))
        defer { free(folder) }
        var host = PipelineHost(
            size: MemoryLayout<PipelineHost>.size, fail: complain, log: { _, _, _ in }, cancelled: { _ in 0 },
            resources: nil, own_folder: folder, text: given, file: bytes)
        var result = PipelineArrangement()
        #expect(arrange(&host, [PipelineValue(number: 2, text: nil)], 3, 1, &result) == 0)
        #expect([result.left, result.top, result.width, result.height, result.quarters] == [-2, 0, 7, 3, 2])
        #expect(result.colour == (7, 7, 7) && result.is_mirrored == 0)
        #expect(arrange(&host, [PipelineValue(number: 9, text: nil)], 3, 1, &result) != 0)
        let ramp = try Image.matrix([[0, 10, 200]]).cast("uchar").copy(interpretation: "b-w")
        let framed = Framed()
        #expect(try framed.apply(to: ramp).pixels == [7, 7, 7, 7, 7, 7, 200, 10, 0, 7])
        var part = Arrangement(width: 2, height: 1)
        (part.left, part.isMirrored) = (1, true)
        #expect(try ramp.arranged(part).pixels == [200, 10])
        var red = Arrangement(width: 4, height: 1)
        red.colour = Colour(red: 255, green: 0, blue: 0)
        #expect(try ramp.arranged(red).pixels.suffix(6) == [200, 200, 200, 255, 0, 0])
    }

    @Test("libvips' operations are called by name, and their errors have messages")
    func calls() throws {
        let ramp = try Image.matrix([[0, 10, 200]]).cast("uchar")
        #expect(try ramp.invert().pixels == [255, 245, 55])
        #expect(try ramp.linear([2], [1]).pixels == [1, 21, 401])
        #expect(try ramp.linear([2], [1], uchar: true).pixels == [1, 21, 255])
        #expect(try ramp.flip("horizontal").pixels == [200, 10, 0])
        #expect(try ramp.extractArea(left: 1, top: 0, width: 2, height: 1).pixels == [10, 200])
        #expect(try ramp.bandjoin(ramp, ramp).bandmean().pixels == [0, 10, 200])
        #expect(try ramp.bandjoin(ramp).extractBand(1).pixels == [0, 10, 200])
        #expect(try ramp.relationalConst("more", [9]).ifthenelse(ramp, ramp.invert()).pixels == [255, 10, 200])
        #expect(
            try ramp.embed(x: 1, y: 0, width: 5, height: 1, extend: "background", background: [7]).pixels == [
                7, 0, 10, 200, 7,
            ])
        #expect(try ramp.add(ramp).subtract(ramp).pixels == [0, 10, 200])
        #expect(try ramp.conv([[1, 1, 1]], scale: 3).pixels.count == 3)
        #expect(try Image.black(width: 2, height: 1).pixels == [0, 0])
        #expect(throws: FilterError.self) { try ramp.flip("sideways") }
        for (body, words) in [
            ({ try Image.call("gausblur", [:]) }, "gausblur"),
            ({ try Image.call("invert", ["on": .image(ramp)]) }, "takes no 'on'"),
            ({ try Image.call("invert", ["in": 3]) }, "'in' of libvips' invert is not"),
            ({ try Image.call("avg", ["in": .image(ramp)]) }, "makes no picture 'out'"),
            ({ try Image.call("black", ["width": 1e12, "height": 1]) }, "too large for 'width'"),
            ({ try Image.matrix([[1, 2], [3]]) }, "the same length"),
        ] as [(() throws -> Image, String)] {
            let error = #expect(throws: FilterError.self) { _ = try body() }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }

    @Test("luma, curves and alpha follow the contract")
    func conveniences() throws {
        let colour = try Image.matrix([[255]]).cast("uchar").bandjoin(
            Image.matrix([[0]]).cast("uchar"), Image.matrix([[128]]).cast("uchar")
        ).copy(interpretation: "srgb")
        #expect(colour.colours == 3 && !colour.hasAlpha && colour.white == 255)
        #expect(try colour.luma().pixels == [(0.299 * 255 + 0.114 * 128).rounded()])
        #expect(try colour.luma().interpretation == "b-w")
        let clear = try colour.bandjoin(Image.matrix([[77]]).cast("uchar")).copy(interpretation: "srgb")
        #expect(clear.hasAlpha && clear.colours == 3)
        #expect(try clear.curve { 1 - $0 }.pixels == [0, 255, 127, 77])
        #expect(try clear.luma().pixels == [91, 77])
        #expect(try clear.keepingAlpha { try $0.linear([0.5], [0]) }.pixels == [128, 0, 64, 77])
        let deep = try Image.matrix([[0, 65535, 1000]]).cast("ushort").copy(interpretation: "grey16")
        #expect(deep.is16Bit && deep.white == 65535)
        #expect(try deep.curve { $0 * $0 }.pixels == [0, 65535, (1000.0 * 1000 / 65535).rounded()])
    }
}

private let complaint = Mutex("")

private func bytes(
    _ host: UnsafePointer<PipelineHost>, _ value: UnsafePointer<PipelineValue>, _ size: UnsafeMutablePointer<Int>
) -> UnsafeRawPointer? {
    guard let text = value.pointee.text else { return nil }
    size.pointee = strlen(text)
    return UnsafeRawPointer(text)
}

private func given(_ host: UnsafePointer<PipelineHost>, _ which: PipelineText) -> UnsafePointer<CChar>? {
    which == PIPELINE_CAPTION ? UnsafePointer(caption) : nil
}

nonisolated(unsafe) private let caption = strdup("a hill")

private func complain(_ host: UnsafePointer<PipelineHost>, _ message: UnsafePointer<CChar>) {
    let text = String(cString: message)
    complaint.withLock { $0 = text }
}

/// Calls a filter as the plugin host does.
private func applied(_ filter: ExportedFilter, _ values: [PipelineValue]) throws -> Image {
    complaint.withLock { $0 = "" }
    let folder = strdup("/nowhere")
    defer { free(folder) }
    guard let folder else { throw FilterError("there is no memory") }
    var host = PipelineHost(
        size: MemoryLayout<PipelineHost>.size, fail: complain, log: { _, _, _ in }, cancelled: { _ in 0 },
        resources: nil, own_folder: folder, text: given, file: bytes)
    var result: UnsafeMutablePointer<VipsImage>?
    let status = filter.pointee.apply(&host, values, try Image.black(width: 1, height: 1).pointer, &result)
    guard status == 0, let result else { throw FilterError(complaint.withLock { $0 }) }
    return Image(owning: result)
}

extension Image {
    /// All samples of the picture, in order.
    fileprivate var pixels: [Double] {
        get throws {
            let doubles = try cast("double")
            var size = 0
            guard let memory = vips_image_write_to_memory(doubles.pointer, &size) else {
                throw FilterError(String(cString: vips_error_buffer()))
            }
            defer { g_free(memory) }
            let samples = memory.assumingMemoryBound(to: Double.self)
            return Array(UnsafeBufferPointer(start: samples, count: size / MemoryLayout<Double>.size))
        }
    }
}
