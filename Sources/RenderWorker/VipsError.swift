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
        return VipsError(lines: lines.filter { !$0.contains("unable to write to target") })
    }

    /// Did encoding fail, rather than reading, which the same lazy pipeline does? What failed first tells.
    var isOfEncoding: Bool { lines.first?.prefix(while: { $0 != ":" }).hasSuffix("save") ?? false }

    /// The first line that matters, without the name of libvips' part that speaks.
    var reason: String {
        guard let line = lines.first(where: { !$0.contains("extraneous bytes") }) ?? lines.first else {
            return "libvips gave no reason"
        }
        guard let colon = line.range(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return line }
        return String(line[colon.upperBound...])
    }
}
