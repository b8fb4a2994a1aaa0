import Foundation
import WorkerProtocol

/// libvips' failures in words for the person who dropped the picture.
extension WorkerFailure {
    /// The picture itself is at fault.
    init(reading error: VipsError) {
        let words = error.lines.joined(separator: " ").lowercased()
        let signsOfAnEnd = [
            "premature end of jpeg", "premature end of input", "truncated", "unexpected end", "end of file",
            "end of stream", "not enough", "eof",
        ]
        if signsOfAnEnd.contains(where: words.contains) {
            self.init(
                stage: "open", message: "the picture is incomplete: its end is missing (\(error.reason))",
                advice: "copy it again from where it came")
        } else {
            self.init(
                stage: "open", message: "the picture is damaged, or of a kind that can't be read (\(error.reason))",
                advice: "open it in another program and save it afresh")
        }
    }

    /// The result could not be written.
    init(writing error: VipsError) {
        let isFull = [ENOSPC, EDQUOT].contains { code in
            error.lines.contains { $0.contains(String(cString: strerror(code))) }
        }
        self.init(
            stage: SaveStage.name,
            message: isFull ? "the disk of the outbox is full" : "the result can't be written (\(error.reason))",
            advice: isFull ? "free some space, then pipectl retry" : nil, lacksRoom: isFull ? true : nil)
    }
}
