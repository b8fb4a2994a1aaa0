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
        return VipsError(lines: String(cString: text).split(separator: "\n").map(String.init))
    }

    /// Did writing fail, rather than reading, which the same lazy pipeline does?
    var isOfWriting: Bool {
        let signs = [
            "write error", "jpegsave", "pngsave", "webpsave", "tiffsave", "vips2tiff", "heifsave", "VipsTarget",
        ]
        return lines.contains { line in signs.contains { line.contains($0) } }
    }

    /// The first line without the name of libvips' part that speaks.
    var reason: String {
        guard let line = lines.first else { return "libvips gave no reason" }
        guard let colon = line.range(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return line }
        return String(line[colon.upperBound...])
    }
}
