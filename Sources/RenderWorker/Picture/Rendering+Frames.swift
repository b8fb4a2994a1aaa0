import PipelineModel
import SystemCalls
import WorkerProtocol

/// Renders outputs that keep an animation. Each frame passes through the stages like any other picture.
extension Rendering {
    func renderFrames(
        of animation: Animation, _ output: Int, into target: Descriptor
    ) throws -> RenderedOutput {
        guard let save = outputs[output].stages.last.map(SaveStage.init) else { throw Self.unsaved }
        let strip = try source.reading(animation.strip)
        let described = try described()
        let frames = try FrameStrip { number in
            try cancellation.check()
            let frame = try source.reading { try animation.frame(number, of: strip) }
            let made = try made(of: frame, for: output, frames: animation.frames, like: described)
            return try source.reading { try cancellation.guarding(made, made.inMemory) }
        }
        let picture = try frames.picture(frames: animation.frames)
        try animation.complete(picture, frameHeight: frames.frameHeight)
        let encoded = try withExtendedLifetime(frames) {
            try source.reading {
                do { return try save.apply(to: picture, into: target, cancellation) } catch {
                    throw frames.failure ?? error
                }
            }
        }
        return try SavedFile.check(target, against: encoded, format: save.format, gainMaps.make(output, most: nil))
    }
}
