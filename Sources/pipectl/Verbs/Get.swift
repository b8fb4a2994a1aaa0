import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let result = Option(
        "--result", value: "N", "the N-th of several results, as `pipectl show` lists them")
    fileprivate static let original = Option("--original", "the original instead of a result")
    fileprivate static let width = Option(
        "--width", value: "PIXELS",
        "a preview instead: a WebP, large enough for this width; 1 to \(ControlInterface.largePreview)")
    fileprivate static let output = Option(
        "--output", short: "-o", value: "PATH", kinds: [.file],
        "a new file, a folder, or - for standard output; default: the working folder")
}

extension Verb {
    static let get = Verb(
        name: "get",
        summary: "copy a job's result, or its original, to where you are",
        usage: "ID [--result N | --original] [--width PIXELS] [--output PATH]",
        discussion: [
            "The daemon opens the picture, so you get it wherever it is, even from folders that you may not read.",
            "A file that somebody has changed since it was published is not handed out. Nothing is replaced.",
            "With --width, it is a preview, whose longer side has at most \(ControlInterface.smallPreview) pixels or, if those are too few,",
            "\(ControlInterface.largePreview). It is made when jobs leave a worker free. A small result is copied as it is.",
        ],
        arguments: [Argument("ID", kinds: [.anyJob], "the job's number, as `pipectl list` shows it")],
        options: [.result, .original, .width, .output],
        examples: [
            Example("pipectl get 12", "its result, into the working folder"),
            Example("pipectl get 12 --original --width 320 -o a.webp", "a small picture of its original"),
            Example("pipectl get 12 --original --output - | exiftool -", "the metadata of its original"),
        ],
        run: { context in
            let invocation = context.invocation
            guard let id = try invocation.ids().first else { return .usage }
            let number = try invocation.number(.result)
            if number != nil, invocation.has(.original) { throw Failure.usage("either --result or --original") }
            let call = Call.Open(
                id: id, result: invocation.has(.original) ? nil : number ?? 1, width: try invocation.number(.width))
            let (picture, files) = try context.client().callForFiles(call)
            guard let file = files.first else { return .failed }
            let output = invocation.value(.output)
            if output == "-" {
                try write(file, to: Descriptor(owning: dup(STDOUT_FILENO)), "the standard output")
                return .done
            }
            let path = place(of: picture.name, output)
            try WholeFile.write(file, to: path, replacing: false)
            if context.json {
                try context.output.object(Copied(file: path, bytes: picture.bytes))
            } else {
                try context.output.line("\(path, .strong)  \(Amount.bytes(picture.bytes))")
            }
            return .done
        })

    private static func place(of name: String, _ output: String?) -> String {
        guard let output else { return FileSystem.join(".", name) }
        return output.hasSuffix("/") || FileSystem.isFolder(output) ? FileSystem.join(output, name) : output
    }

    private static func write(_ file: Descriptor, to output: Descriptor, _ name: String) throws(Failure) {
        do { try FileSystem.copy(file, to: output, called: name, durably: false) } catch {
            throw Failure("CannotWrite", "\(name): \(error.reason)", .failed)
        }
    }
}

/// The JSON that describes a copied file.
private struct Copied: Encodable {
    var file: String
    var bytes: Int
}
