import CRaw
import CVips
import PipelineModel
import WorkerProtocol

/// The picture in a camera's file: the JPEG that the camera has embedded, or the developed samples of the sensor.
struct CameraPicture {
    /// The kind of file, named by its usual suffix: `dng`, `nef`.
    let kind: String
    let header: craw_header
    /// The embedded JPEG; nil if the samples are developed.
    let preview: [UInt8]?
    /// EXIF's orientation number.
    let orientation: Int
    private let previewSize: PictureSize
    let bytes: SourceBytes
    private let size: Int
    private let acceptsDamage: Bool
    /// Whether developed samples have 16 bits.
    var is16Bit = false

    /// Maximum length of a preview in bytes. Real previews are a tenth as long.
    private static let mostBytes = 64 << 20

    init(_ bytes: SourceBytes, size: Int, name: String, _ policy: RawPolicy, accepting acceptsDamage: Bool) throws {
        (self.bytes, self.size, self.acceptsDamage) = (bytes, size, acceptsDamage)
        guard acceptsDamage || !CameraRaw.isCut(size: size, bytes.exactly) else {
            throw WorkerFailure(
                camera: CameraFile.Failure(kind: .cut, words: "it ends before the data that it announces"))
        }
        let found: (bytes: [UInt8], header: JPEGHeader)?
        do throws(CameraFile.Failure) {
            let file = try CameraFile(bytes, size: size)
            header = try file.header()
            found = policy == .preview ? file.preview(most: min(Self.mostBytes, size)) : nil
        } catch {
            throw WorkerFailure(camera: error)
        }
        kind = CameraRaw.kind(bytes.exactly(0, 16) ?? [], name: name, header)
        preview = policy == .develop ? nil : found?.bytes
        previewSize = PictureSize(width: Int(found?.header.width ?? 0), height: Int(found?.header.height ?? 0))
        let turn = Self.orientation(flip: header.flip)
        // Some programs have rotated the preview but not the samples. Such a preview is upright already.
        let isTurned = turn >= 5 && found != nil && previewSize.isHigh != (header.height > header.width)
        orientation = isTurned ? 1 : turn
        guard policy == .preview, found == nil else { return }
        throw WorkerFailure(
            stage: "open", message: "this \(kind) holds no preview, which the recipe wants (Raw=preview)",
            advice: Self.advice)
    }

    private static let advice = "set Raw=develop in the recipe, or --raw develop beside --chain, then give it again"

    /// In LibRaw's `flip`, bit 1 mirrors the picture, bit 2 flips it vertically, and bit 4 then swaps rows and columns.
    private static func orientation(flip: Int32) -> Int { [1, 2, 4, 3, 5, 8, 6, 7][Int(flip & 7)] }

    private var rawSize: PictureSize { PictureSize(width: Int(header.width), height: Int(header.height)) }

    /// The number of pixels that `MaxPixels=` limits if the samples are developed. It is 0 if the preview is used,
    /// because the preview's own size is checked elsewhere.
    var pixels: Int64 {
        preview == nil
            ? max(Int64(header.raw_width) * Int64(header.raw_height), Int64(header.width) * Int64(header.height)) : 0
    }

    /// Describes for `explain` how the file is read.
    var words: String {
        preview == nil ? "\(kind), developed" : "\(kind), preview \(previewSize.width) × \(previewSize.height) jpeg"
    }

    /// Factors by which developing can shrink the picture. A sensor with a pattern of two by two samples allows 2,
    /// because each pattern becomes one pixel. X-Trans sensors have a larger pattern, and allow no shrinking.
    var shrinks: [Int] { header.filters > 1000 && header.colours == 3 && !header.is_stretched ? [2] : [] }

    /// A picture without pixels that has the size and metadata of the developed picture.
    func blank() throws -> Picture {
        let black = try Picture.blank(rawSize.width, rawSize.height, isGrey: header.colours == 1)
        guard is16Bit else { return black }
        let space = header.colours == 1 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16
        return try black.then { cvips_cast($0, $1, VIPS_FORMAT_USHORT, 0) }.interpreted(space)
    }

    /// Bytes that LibRaw needs: the stored samples, four two-byte colours for each pixel, and the finished picture.
    func developing(shrink: Int) -> Int {
        let stored = Int(header.raw_width) * Int(header.raw_height) * (header.filters == 0 ? 8 : 2)
        let pixels = rawSize.width * rawSize.height / (shrink * shrink)
        let moved = header.is_stretched ? 8 : 0
        return stored + pixels * (8 + moved + (header.colours == 1 ? 1 : 3) * (is16Bit ? 2 : 1))
    }

    func developed(shrink: Int, _ cancellation: Cancellation) throws -> Picture {
        // Use sRGB's curve, and a brightness that makes a hundredth of the pixels white, as LibRaw's users expect.
        let settings = craw_settings(
            half_size: shrink == 2 ? 1 : 0, bits: is16Bit ? 16 : 8, camera_white_balance: 1, automatic_brightness: 1,
            gamma_power: 1 / 2.4, gamma_slope: 12.92)
        try cancellation.check()
        let picture: Picture
        do {
            picture = try CameraFile(bytes, size: size, cancellation).develop(settings, accepting: acceptsDamage)
        } catch let failure as CameraFile.Failure {
            try cancellation.check()
            throw WorkerFailure(camera: failure)
        }
        try cancellation.check()
        cancellation.progress.passed(1)
        addMetadata(to: picture)
        // LibRaw rounds up, so crop to the size rounded down.
        let (width, height) = (Int32(rawSize.width / shrink), Int32(rawSize.height / shrink))
        guard picture.width > width || picture.height > height else { return picture }
        return try picture.then {
            cvips_crop($0, $1, 0, 0, min(width, Int32(picture.width)), min(height, Int32(picture.height)))
        }
    }
}

extension CameraPicture {
    /// Refuses a preview that is much smaller than the sensor's picture, or that an output would enlarge.
    func check(_ outputs: [[Stage]], changesSize: (Stage) -> Bool) throws(WorkerFailure) {
        guard preview != nil else { return }
        for stages in outputs {
            let resize = stages.prefix { !changesSize($0) }.lazy.compactMap(ResizeStage.init).first
            guard !Self.serves(previewSize, rawSize, resize) else { continue }
            throw WorkerFailure(
                stage: "open",
                message:
                    "the largest preview in this \(kind) is \(previewSize.width) × \(previewSize.height), too small for "
                    + "this recipe: the camera's picture is \(rawSize.width) × \(rawSize.height)",
                advice: Self.advice + ", or let the recipe make smaller results")
        }
    }

    private static func serves(_ preview: PictureSize, _ raw: PictureSize, _ resize: ResizeStage?) -> Bool {
        let isHalf = 2 * preview.longer >= raw.longer
        let isWhole = 10 * preview.longer >= 9 * raw.longer
        guard let resize else { return isHalf }
        let preview = preview.isHigh == raw.isHigh ? preview : PictureSize(width: preview.height, height: preview.width)
        let wanted = PictureSize(resize.target(raw.width, raw.height))
        let made = PictureSize(resize.target(preview.width, preview.height))
        // If the resize changes neither picture, a preview of at least half the sensor's size suffices. If the resize
        // changes only the sensor's picture, the preview must be almost as large as the sensor's picture, or have the
        // same size as the resized sensor's picture.
        if made == preview { return wanted == raw ? isHalf : isWhole || made == wanted }
        // If the two results differ in size, the resize scales by a factor, and half the sensor's size is enough again.
        guard abs(wanted.longer - made.longer) * 50 <= wanted.longer else { return isHalf }
        return isWhole || made.width <= preview.width && made.height <= preview.height
    }
}

private struct PictureSize: Equatable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    init(_ target: ResizeStage.Target) { self.init(width: target.width, height: target.height) }

    var longer: Int { max(width, height) }
    var isHigh: Bool { height > width }
}

extension WorkerFailure {
    fileprivate init(camera failure: CameraFile.Failure) {
        let (message, advice) =
            switch failure.kind {
            case .unknown:
                (
                    "LibRaw can't read this camera's file",
                    "export it as DNG, JPEG or TIFF in the camera maker's program, then drop that"
                )
            case .cut:
                (
                    "the camera's file is incomplete: its end is missing",
                    "copy it again from where it came; or set OnTruncated=accept in the recipe, to render what is there"
                )
            case .damaged: ("the camera's file is damaged", "copy it again from where it came")
            case .outOfMemory:
                (
                    "developing the camera's file takes more memory than it says",
                    "set Raw=preview in the recipe, then drop it again"
                )
            }
        self.init(stage: "open", message: "\(message) (\(failure.words))", advice: advice)
    }
}
