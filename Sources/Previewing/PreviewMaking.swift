import DaemonRuntime
import PictureFiles
import PipelineModel
import ServiceProgram
import WorkerPools
import WorkerProtocol

/// A preview that is being looked up, queued or rendered, and the clients' requests for it.
@Coordination
final class PreviewMaking {
    let key: PreviewKey
    let picture: JobPicture
    let subject: LogSubject
    var wishes: [PreviewWish] = []
    var task: RenderTask?

    init(_ key: PreviewKey, _ picture: JobPicture, _ subject: LogSubject) {
        (self.key, self.picture, self.subject) = (key, picture, subject)
    }

    /// The preview's stages: they rotate the picture upright, convert it to sRGB, and strip its metadata.
    var output: RenderOutput {
        RenderOutput(
            name: nil,
            stages: [
                Stage(name: "resize", arguments: ["edge": .number(Double(key.size))]),
                Stage(
                    name: "save",
                    arguments: [
                        "format": .text("webp"), "metadata": .text("strip"), "quality": .number(75),
                        "effort": .number(2),
                    ]),
            ])
    }

    /// The preview's file name: the picture's name with another suffix.
    var name: String {
        ResultName.shortened(NameFacts.split(picture.name).stem, toFit: PreviewKey.suffix) + PreviewKey.suffix
    }
}
