import CVips
import Foundation

/// libvips' own words for a failure, one line for each that it left.
struct VipsError: Error, CustomStringConvertible {
    let lines: [String]

    var description: String { lines.first ?? "an unknown error" }

    /// Copies and clears the error buffer, which all threads share.
    static func take() -> VipsError {
        guard let text = vips_error_buffer_copy() else { return VipsError(lines: []) }
        defer { g_free(text) }
        let lines = String(cString: text).split(separator: "\n").map(String.init)
            // What an encoder says of a picture that could not be read, too; a target that fails speaks for itself.
            .filter { !$0.contains("unable to write to target") }
        // After what only tells that something is wrong comes what it is.
        let isVague = lines.isEmpty || lines.contains { $0.hasSuffix(": libpng read error") }
        return VipsError(lines: lines + (isVague ? VipsWarning.take().map { ["libpng: \($0)"] } ?? [] : []))
    }

    /// What was said while all went well is no reason for what fails later.
    static func forget() {
        vips_error_clear()
        _ = VipsWarning.take()
    }

    /// Did encoding fail, rather than reading, which the same lazy pipeline does? What failed first tells.
    var isOfEncoding: Bool { lines.first?.prefix(while: { $0 != ":" }).hasSuffix("save") ?? false }

    /// Said beside what matters, or after it.
    private static let vague = [
        "extraneous bytes", "bad seek to", "libpng read error", "tiff2vips: read error", "error in tile",
        "unable to open source for input",
    ]

    /// Where nothing else is known.
    var reason: String { ownReason ?? "libvips gave no reason" }

    /// What is known, with libvips' reason behind it, if it left one.
    func adding(to known: String) -> String { known + (ownReason.map { " (\($0))" } ?? "") }

    /// The first line that matters, without the name of libvips' part that speaks.
    private var ownReason: String? {
        let matters = lines.first { line in !Self.vague.contains(where: line.contains) }
        guard let line = matters ?? lines.first else { return nil }
        for part in ["source input: "] where line.hasPrefix(part) { return String(line.dropFirst(part.count)) }
        guard let colon = line.range(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return line }
        return String(line[colon.upperBound...])
    }
}
