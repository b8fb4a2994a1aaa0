import CPipelinePlugin
import CVips
import Glibc
import PipelineModel
import WorkerConfinement
import WorkerProtocol

struct Filter {
    let description: StageDescription
    private let filter: PipelineFilter
    private let host: UnsafePointer<PipelineHost>
    /// The filter's own folder, which it may read.
    let resources: String?

    /// `ownFolder` is the path of the filter's folder, whether or not the folder exists.
    init(_ filter: PipelineFilter, description: StageDescription, resources: String?, ownFolder: String) {
        (self.filter, self.description, self.resources) = (filter, description, resources)
        host = FilterHost.table(of: description.name, resources: resources, ownFolder: ownFolder)
    }

    var code: UnsafeRawPointer? { PluginLayout.code(of: filter) }

    /// Applies the filter to a picture. `save` is the last stage of the chain. Its arguments may include the caption
    /// and credit from a download list.
    func apply(
        _ stage: Stage, to picture: Picture, before save: Stage? = nil, maxPixels: Int64 = .max
    ) throws -> Picture {
        let input = description.traits(of: stage).contains(.lumaOnly) ? try picture.luma() : picture
        let texts = description.traits.contains(.readsTexts) ? PictureWords(of: input, before: save) : PictureWords()
        var made: UnsafeMutablePointer<VipsImage>?
        var status: Int32 = 0
        RefusedCall.forget()
        // A spare reference keeps the input alive if the filter releases it by mistake.
        g_object_ref(input.image)
        defer { g_object_unref(input.image) }
        let references = input.references
        let complaint = FilterHost.complaint(about: texts) {
            status = withValues(of: stage) { filter.apply(host, $0, input.image, &made) }
        }
        let (result, misuse) = owned(made, input, references)
        // A filter may continue after a refused call, but its result is then not the intended picture.
        if let call = RefusedCall.first {
            throw WorkerFailure(filter: description.name, tried: call)
        }
        guard status == 0 else {
            let error = VipsError.take()
            if error.isOfOrder { throw WorkerFailure(readingOutOfOrder: [description.name]) }
            if error.isOfMemory {
                let message = error.adding(to: "there was no memory for the filter")
                throw WorkerFailure(stage: description.name, withoutMemory: message)
            }
            throw failure(complaint ?? error.reason)
        }
        if let misuse { throw failure(misuse) }
        guard let result else { throw failure("it returned no picture") }
        try check(result, against: input, maxPixels)
        // Convert the samples, for example floating-point ones, back to the input's format, which all stages use.
        return try result.format == input.format ? result : result.inUsualSamples(as: input.format)
    }

    /// Returns where the filter puts the pixels of a picture of this size. Returns nil if the filter does more than
    /// move pixels. Also returns nil if the filter fails; `apply` then reports the reason.
    func arrangement(_ stage: Stage, _ width: Int, _ height: Int) -> PipelineArrangement? {
        guard description.traits.contains(.movesPixels), let arrange = filter.arrange else { return nil }
        var result = PipelineArrangement()
        (result.width, result.height) = (Int32(width), Int32(height))
        var status: Int32 = 0
        _ = FilterHost.applying([description.name]) {
            FilterHost.complaint {
                status = withValues(of: stage) { arrange(host, $0, Int32(width), Int32(height), &result) }
            }
        }
        return status == 0 ? result : nil
    }

    /// Calls `body` with the values of the stage's parameters, in the order of their declaration.
    private func withValues(of stage: Stage, _ body: (UnsafePointer<PipelineValue>) -> Int32) -> Int32 {
        var texts: [UnsafeMutablePointer<CChar>?] = []
        defer { for text in texts { free(text) } }
        let values = description.parameters.map { parameter in
            switch stage.arguments[parameter.name] {
            case .number(let number): return PipelineValue(number: number, text: nil)
            case .text(let text):
                let copy = strdup(text)
                texts.append(copy)
                return PipelineValue(number: 0, text: copy.map { UnsafePointer($0) })
            case nil: return PipelineValue(number: 0, text: nil)
            }
        }
        // Pass one more value, because a filter without parameters may still read the first value.
        return (values + [PipelineValue()]).withUnsafeBufferPointer { values in
            guard let start = values.baseAddress else { return -1 }
            let files = description.parameters.enumerated().compactMap { index, parameter in
                stage.files?[parameter.name].map { (index, $0) }
            }
            FilterHost.hand(Dictionary(uniqueKeysWithValues: files), at: start)
            return body(start)
        }
    }

    /// Returns the result if it is usable. `misuse` describes a mistake that the filter made with references. If the
    /// filter released a reference that it did not own, adds the reference again, so that the mistake costs only this
    /// picture.
    private func owned(
        _ made: UnsafeMutablePointer<VipsImage>?, _ input: Picture, _ before: UInt32
    ) -> (result: Picture?, misuse: String?) {
        let given = before - min(before, input.references)
        for _ in 0..<given { g_object_ref(input.image) }
        if given > 0 { return (nil, "it let go of its input, which is not its own") }
        guard let made else { return (nil, nil) }
        if made == input.image, input.references == before {
            return (nil, "it returned its input without a reference of its own; g_object_ref makes one")
        }
        guard cvips_is_image(made) != 0 else {
            return (nil, "it returned something that is no picture, or not any more")
        }
        return (Picture(owning: made), nil)
    }

    /// Rejects an invalid result, so that only this job fails, with the filter's name in the message.
    private func check(_ result: Picture, against input: Picture, _ maxPixels: Int64) throws {
        guard result.width > 0, result.height > 0, (1...4).contains(result.bands) else {
            throw failure(
                "it returned a picture of \(result.width) × \(result.height) with \(result.bands) bands")
        }
        guard vips_band_format_iscomplex(result.format) == 0, result.isPlain else {
            throw failure("it returned a picture whose samples are not plain numbers")
        }
        try checkBands(result, against: input)
        let sameSize = result.width == input.width && result.height == input.height
        guard sameSize || description.traits.contains(.changesSize) else {
            throw failure(
                "it made \(result.width) × \(result.height) of \(input.width) × \(input.height), and does not say "
                    + "that it changes the size")
        }
        guard Int64(result.width) * Int64(result.height) <= maxPixels else {
            throw failure(
                "it made \(result.width) × \(result.height) of \(input.width) × \(input.height), which is more than "
                    + "MaxPixels=\(maxPixels)")
        }
    }

    private func checkBands(_ result: Picture, against input: Picture) throws {
        guard result.hasAlpha || !input.hasAlpha else {
            throw failure(
                "it made \(result.bands) bands of \(input.bands) and lost the last, which is alpha; alpha that came in "
                    + "must go out")
        }
        guard result.bands < 3 || Self.ofColours.contains(result.interpretation) else {
            throw failure(
                "it returned \(result.bands) bands whose interpretation is "
                    + "\(result.interpretation.name ?? "none"); it must be sRGB or RGB16")
        }
        // Two bands that were made from three would be mistaken for grey and alpha.
        let isGrey = [VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16].contains(result.interpretation)
        guard result.bands != 2 || input.bands < 3 || isGrey else {
            throw failure(
                "it made 2 bands of \(input.bands): a colour is lost; a result has 1 or 3 colours, and perhaps alpha")
        }
    }

    /// Interpretations that libvips' operations may give to a picture of red, green and blue.
    private static let ofColours = [
        VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_MULTIBAND,
        VIPS_INTERPRETATION_HISTOGRAM,
    ]

    private func failure(_ message: String) -> WorkerFailure {
        WorkerFailure(
            stage: description.name, message: message, advice: "leave the filter out of the chain, or mend it",
            filter: description.name)
    }
}

extension WorkerFailure {
    /// One of the filters requested rows that the sequential reader had already passed.
    init(readingOutOfOrder filters: [String]) {
        let names = filters.map { "'\($0)'" }.joined(separator: " or ")
        self.init(
            stage: filters.joined(separator: " + "),
            message:
                "the filter \(names) reads the picture in another order than from top to bottom, or twice, and does not "
                + "ask for the whole picture",
            advice: "give it the trait PIPELINE_WHOLE_PICTURE, or leave it out of the chain",
            filter: filters.count == 1 ? filters.first : nil)
    }
}

extension VipsInterpretation {
    fileprivate var name: String? {
        vips_enum_nick(vips_interpretation_get_type(), rawValue).map { String(cString: $0) }
    }
}

extension Picture {
    fileprivate var references: UInt32 { cvips_references(image) }

    /// Whether each sample is stored as a plain number, not in a packed form.
    fileprivate var isPlain: Bool { image.pointee.Coding == VIPS_CODING_NONE }
}
