import CVips
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Checks a written result: an encoder may report success for an unreadable file, and a disk may lose bytes.
enum SavedFile {
    /// Reads the header in `target`, throws unless it matches the picture, and checks that the file is complete.
    static func check(
        _ target: Descriptor, against picture: Picture, format: String, _ gainMap: GainMaps.Outcome = .none
    ) throws -> RenderedOutput {
        var result = try format == "jxl" ? checkJXL(target, against: picture) : check(target, against: picture, format)
        if let made = gainMap.file {
            let file = try SourceFile(target, name: "result", called: "the result")
            guard case .found(let map) = file.gainMap(result.width, result.height, isPromised: false, most: .max),
                map.width == made.width, map.height == made.height, map.place.upperBound == file.size
            else { throw failure("its gain map can't be read") }
        }
        result.gainMap = gainMap.words
        return result
    }

    private static func check(_ target: Descriptor, against picture: Picture, _ format: String) throws -> RenderedOutput
    {
        let file: SourceFile
        let saved: Header
        do {
            file = try SourceFile(target, name: "result", called: "the result")
            saved = try file.format == .jpeg ? header(ofJPEG: file) : header(file, isAnimation: picture.frames > 1)
        } catch let error as WorkerFailure {
            throw failure(error.message)
        } catch let error as VipsError where error.isOfMemory {
            let message = error.adding(to: "there was no memory to look at the written result")
            throw WorkerFailure(stage: SaveStage.name, withoutMemory: message)
        } catch let error as VipsError {
            throw failure(error.adding(to: "it can't be read again"))
        }
        guard file.format.rawValue == format else { throw failure("it is \(file.format.rawValue), not \(format)") }
        // Across a barrier, a PNG holds all frames as one tall picture.
        let height = format == "png" ? picture.height : picture.frameHeight
        guard saved.width == picture.width, saved.height == height else {
            throw failure("it has \(saved.width) × \(saved.height) pixels, not \(picture.width) × \(height)")
        }
        // Encoders merge identical consecutive frames, so the file may have fewer frames.
        guard saved.frames <= picture.frames else {
            throw failure("it has \(saved.frames) frames, not \(picture.frames)")
        }
        guard file.isWhole else { throw failure("its end is missing") }
        return RenderedOutput(
            format: format, width: saved.width, height: saved.height, pages: saved.frames, bands: saved.bands,
            bytes: Int64(file.size),
            lost: Metadata.lost(picture, where: saved.hasField, hasComments: saved.hasComments),
            dropped: picture.dropped)
    }

    /// The header that was read from the file.
    private struct Header {
        var width: Int
        /// The height of one frame.
        var height: Int
        var frames = 1
        var bands: Int
        var hasField: (String) -> Bool
        var hasComments = false
    }

    private static func header(_ file: SourceFile, isAnimation: Bool) throws -> Header {
        let saved = try isAnimation ? file.strip() : file.picture()
        return Header(
            width: saved.width, height: saved.frameHeight, frames: saved.frames, bands: saved.bands,
            hasField: saved.hasField, hasComments: saved.hasComments)
    }

    /// Reads the header without libvips. For a small picture, reading the header with libvips would take as long as all
    /// other steps of the render.
    private static func header(ofJPEG file: SourceFile) throws -> Header {
        for length in SourceFile.headerLengths + [file.size] {
            let start = try file.bytes(length)
            guard let header = JPEGHeader(start) else { continue }
            return Header(
                width: Int(header.width), height: Int(header.height), bands: header.bands,
                hasField: JPEGMarkers(start).has)
        }
        throw VipsError(lines: ["its header is damaged"])
    }

    /// Reads the boxes directly, because the worker blocks libvips' JPEG XL loader.
    private static func checkJXL(_ target: Descriptor, against picture: Picture) throws -> RenderedOutput {
        let bytes = SourceBytes.file(target, called: "the result")
        let size = Int(try target.status().st_size)
        guard let file = JXLContainer(size: size, bytes.exactly) else { throw failure("it is not jxl") }
        guard file.width == picture.width, file.height == picture.height else {
            throw failure("it has \(file.width) × \(file.height) pixels, not \(picture.width) × \(picture.height)")
        }
        guard Boxes.areWhole(size: size, bytes.exactly) else { throw failure("its end is missing") }
        let kept = ["exif-data": file.has(JXLContainer.exif), "xmp-data": file.has(JXLContainer.xmp)]
        return RenderedOutput(
            format: "jxl", width: file.width, height: file.height, bands: picture.bands, bytes: Int64(size),
            lost: Metadata.lost(picture) { kept[$0] ?? false }, dropped: picture.dropped)
    }

    private static func failure(_ message: String) -> WorkerFailure {
        WorkerFailure(
            stage: SaveStage.name, message: "the written result is not the picture that was made: \(message)",
            advice: "look at the disk of the outbox, then pipectl retry; another format may do, too")
    }
}
