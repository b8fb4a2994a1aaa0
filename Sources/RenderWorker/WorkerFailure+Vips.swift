import Foundation
import PipelineModel
import WorkerProtocol

/// Translates libvips' failures for the person who dropped the picture.
extension WorkerFailure {
    /// An allocation failed. That says nothing about the picture, so the failure is transient.
    init(stage: String, withoutMemory message: String) {
        self.init(
            stage: stage, message: message,
            advice: "leave the machine more memory, or make the picture smaller; then pipectl retry", class: .transient)
    }

    init(reading error: VipsError, of format: SourceFormat, isCut: Bool, accepted: Bool) {
        // libtiff reads every page, and also reports errors in pages that nobody needs. The last error stopped libtiff,
        // so put that error first.
        let error = format == .tiff ? VipsError(lines: error.lines.reversed()) : error
        let words = (format == .tiff ? error.reason : error.lines.joined(separator: " ")).lowercased()
        if words.contains("security limit") || words.contains("exceeds user limit") {
            self.init(
                stage: "open", message: "the picture is larger than its decoder takes (\(error.reason))",
                advice: "save it smaller, or in another format; then drop that")
            return
        }
        // Check this after the limits, because libheif reports an exceeded limit as a memory error, too.
        guard !error.isOfMemory else {
            self.init(stage: "open", withoutMemory: error.adding(to: "there was no memory to read the picture"))
            return
        }
        if words.contains("no decoding plugin") {
            let codec = format == .avif ? "libheif-plugin-dav1d" : "libheif-plugin-libde265"
            self.init(
                stage: "open", message: error.adding(to: "a decoder is missing on this machine"),
                advice: Self.install(codec))
            return
        }
        let signsOfAnEnd = [
            "premature end of jpeg", "premature end of input", "truncated", "unexpected end", "end of file",
            "end of stream", "not enough", "eof", "seek error", "bytes, expected",
            "failed to read directory",
        ]
        if let code = error.code, FailureClass(code: code, ofOriginal: true) == .transient {
            self.init(
                stage: "open", message: error.adding(to: "the picture can't be read"),
                advice: "look at the disk (`dmesg`), then pipectl retry", class: .transient)
            return
        }
        // The decoders of JPEG, PNG and GIF can render a truncated picture, unless too much of it is missing.
        let accept = "; or set OnTruncated=accept in the recipe, to render what is there"
        if isCut || signsOfAnEnd.contains(where: words.contains) {
            self.init(
                stage: "open", message: error.adding(to: "the picture is incomplete: its end is missing"),
                advice: "copy it again from where it came"
                    + (!accepted && [.jpeg, .png, .gif].contains(format) ? accept : ""))
        } else {
            self.init(
                stage: "open", message: error.adding(to: "the picture is damaged, or of a kind that can't be read"),
                advice: "open it in another program and save it afresh")
        }
    }

    init(writing code: Int32) {
        let kind = FailureClass(code: code)
        let (message, advice): (String, String?) =
            if kind == .room {
                ("the disk of the outbox is full", "free some space, then pipectl retry")
            } else if code == EFBIG {
                (
                    "the result grows larger than MaxResult allows",
                    "make it smaller, or raise MaxResult in [Daemon], then pipectl retry"
                )
            } else { ("the result can't be written (\(String(cString: strerror(code))))", nil) }
        self.init(stage: SaveStage.name, message: message, advice: advice, class: kind)
    }

    private static func install(_ package: String) -> String {
        "install what Debian calls \(package), start the daemon anew, then pipectl retry"
    }

    init(_ lack: MissingEncoder) {
        self.init(
            stage: SaveStage.name, message: lack.complaint,
            advice: "\(lack.remedy), start the daemon anew, then pipectl retry", class: .input)
    }

    /// The encoder failed, not the disk.
    init(encoding error: VipsError) {
        // libjxl parses the colour profile, so a bad profile makes it fail; other encoders copy the profile unread.
        guard !error.lines.contains(where: { $0.hasSuffix("JxlEncoderSetColorEncoding") }) else {
            self.init(
                stage: SaveStage.name, message: "the picture's profile is damaged, or of a kind that jxl does not hold",
                advice: "leave profile=keep out, or choose another format; then pipectl retry")
            return
        }
        let message = error.adding(to: "the result can't be written")
        if error.isOfMemory {
            self.init(stage: SaveStage.name, withoutMemory: message)
        } else {
            self.init(stage: SaveStage.name, message: message, class: .input)
        }
    }
}

extension VipsError {
    fileprivate func says(_ code: Int32) -> Bool { lines.contains { $0.contains(String(cString: strerror(code))) } }

    /// The system's error code. libvips passes on only the system's error text, so this searches the messages for that
    /// text.
    fileprivate var code: Int32? { FailureClass.distinctive.first(where: says) }
}
