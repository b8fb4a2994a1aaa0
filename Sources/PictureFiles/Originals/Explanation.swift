package import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls

/// The text file beside a failed original. It explains the failure to the person who dropped the picture.
package struct Explanation {
    package let job: JobRecord

    /// The path of the text file that belongs to an original.
    package static func path(of original: String) -> String {
        let name = FileSystem.name(of: original)
        var stem = name
        // A long name is shortened, because name and suffix together may have at most 255 bytes.
        while stem.utf8.count + ".error.txt".utf8.count > 250, !stem.isEmpty { stem.removeLast() }
        return FileSystem.join(FileSystem.folder(of: original), stem + ".error.txt")
    }

    package func write(beside original: String) throws {
        try FileSystem.write(Array(text(original).utf8), to: Self.path(of: original))
    }

    private func text(_ original: String) -> String {
        let name = FileSystem.name(of: job.path).printable
        let origin = job.url.map { "\n            It came from:     \(WebAddress.shown($0).printable)" } ?? ""
        let lies = job.needsDownload ? "nowhere: it was not downloaded" : original.printable
        let chains = job.order.outputs.map(\.chain.text.printable).joined(separator: "\n                  ")
        return """
            \(name) could not be processed.

            What happened:    \((job.error ?? "unknown").printable)
            In which stage:   \(stage)
            What to do:       \((job.advice ?? "look at the picture and the chain").printable)

            The picture:      \(picture)
            It came as:       \(job.path.printable)\(origin)
            It lies now at:   \(lies)
            Recipe:           \(job.order.recipe)
            Chain:            \(chains)
            When:             \(Timestamp.text(job.finished ?? job.created))

            To try again:     pipectl retry \(job.id)

            """
    }

    private var stage: String {
        switch job.story?.stage ?? job.story?.chapters.last?.kind {
        case "download": "download (fetching the URL)"
        case "open": "open (reading the picture)"
        case "save": "save (writing the result)"
        case "publish": "publish (bringing the result into the outbox)"
        case "render": "rendering"
        case let stage?: stage
        case nil: "none had begun"
        }
    }

    private var picture: String { (job.story?.header.map { "\($0), " } ?? "") + "\(job.file.size) bytes" }
}
