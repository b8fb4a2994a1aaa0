import DaemonRuntime
import PictureFiles
import PipelineModel
import WorkerPools
import WorkerProtocol

/// A preview that is looked up, waits for its turn or is in work, and all wishes for it.
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

    /// The stages that make the preview: upright, in sRGB, without metadata.
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

    /// The name of the preview: the picture's, with another suffix.
    var name: String {
        ResultName.shortened(NameFacts.split(picture.name).stem, toFit: PreviewKey.suffix) + PreviewKey.suffix
    }
}
