import CVips
import WorkerProtocol

/// A result's frames as one picture, each below the previous one. A frame is made when libvips requests its rows, and
/// freed when the next frame is made, so only a few frames are in memory at a time. A thread of libvips makes the
/// frames, while the rendering thread waits for that thread.
final class FrameStrip {
    private let make: (_ number: Int) throws -> Picture
    private let first: Picture
    private var number = 0
    private var frame: Picture?
    /// The reason why a frame could not be made.
    private(set) var failure: (any Error)?

    /// `make` returns a frame in memory.
    init(_ make: @escaping (_ number: Int) throws -> Picture) throws {
        self.make = make
        first = try make(0)
        frame = first
    }

    var frameHeight: Int { first.height }

    /// The strip. It must not outlive this object.
    func picture(frames: Int) throws -> Picture {
        let this = Unmanaged.passUnretained(self).toOpaque()
        return try first.then {
            cvips_strip(
                $0, $1, Int32(frames),
                { number, this in
                    this.flatMap { Unmanaged<FrameStrip>.fromOpaque($0).takeUnretainedValue().pixels(of: Int(number)) }
                }, this)
        }
    }

    /// A frame's pixels, valid until the next frame is requested. Nil if the frame can't be made.
    private func pixels(of number: Int) -> UnsafeRawPointer? {
        if number != self.number || frame == nil {
            frame = nil
            do {
                self.number = number
                frame = try failure == nil ? checked(make(number)) : nil
            } catch {
                failure = error
            }
        }
        return frame.map { UnsafeRawPointer($0.image.pointee.data) }
    }

    private func checked(_ frame: Picture) throws -> Picture {
        guard frame.width == first.width, frame.height == first.height, frame.bands == first.bands,
            frame.format == first.format
        else {
            throw WorkerFailure(
                stage: SaveStage.name,
                message: "frame \(number + 1) became \(frame.width) × \(frame.height) with \(frame.bands) bands, and "
                    + "the first one \(first.width) × \(first.height) with \(first.bands)",
                advice: "leave out the filter that makes other sizes of the same, or use pages=first")
        }
        return frame
    }
}
