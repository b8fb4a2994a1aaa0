import CVips
import Foundation

/// libvips' error messages, one per line.
struct VipsError: Error, CustomStringConvertible {
    let lines: [String]

    var description: String { lines.first ?? "an unknown error" }

    /// Copies and clears the error buffer, which all threads share.
    static func take() -> VipsError {
        guard let text = vips_error_buffer_copy() else { return VipsError(lines: []) }
        defer { g_free(text) }
        let lines = String(cString: text).split(separator: "\n").map(String.init)
            // Drop this line: encoders add it even if reading the picture failed. `ResultTarget` records failed writes.
            .filter { !$0.contains("unable to write to target") }
        // If the messages give no reason, the last warning may give it.
        let isVague = lines.isEmpty || lines.contains { $0.hasSuffix(pngError) }
        return VipsError(lines: lines + (isVague ? VipsWarning.take().map { [$0] } ?? [] : []))
    }

    /// The end of libpng's and libspng's error messages; libvips reads PNG with one of these libraries.
    private static let pngError = "png read error"

    /// Clears the messages about a picture, so that the next picture's failure does not include them.
    static func forget() {
        vips_error_clear()
        _ = VipsWarning.take()
    }

    /// Whether the encoder failed, and not the reader. One lazy pipeline runs both the reader and the encoder. The
    /// first line of the error names the operation that failed.
    var isOfEncoding: Bool {
        // The name of an operation may include its kind of target, as in `jxlsave_target`.
        lines.first?.prefix(while: { $0 != ":" && $0 != "_" }).hasSuffix("save") ?? false
    }

    /// Whether an allocation failed, according to the messages of libvips and of the libraries that it uses.
    var isOfMemory: Bool {
        lines.contains { line in
            let line = line.lowercased()
            return ["out of memory", "insufficient memory", "memory allocation", "no memory"].contains(
                where: line.contains)
        }
    }

    /// Whether an operation requested rows that the sequential reader had already passed.
    var isOfOrder: Bool { lines.contains { $0.contains("out of order read") } }

    /// Texts that mark a line as vague: such a line accompanies the reason for a failure, but does not give the reason.
    private static let vague = [
        "extraneous bytes", "bad seek to", pngError, "tiff2vips: read error", "error in tile",
        "unable to open source for input",
    ]

    /// libvips' reason, for messages that consist of the reason alone.
    var reason: String { ownReason ?? "libvips gave no reason" }

    /// `known`, followed by libvips' reason, if there is one.
    func adding(to known: String) -> String { known + (ownReason.map { " (\($0))" } ?? "") }

    /// The first line that gives a reason, without the prefix that names the part of libvips.
    private var ownReason: String? {
        let matters = lines.first { line in !Self.vague.contains(where: line.contains) }
        guard let line = matters ?? lines.first else { return nil }
        let source = "source input: "
        if line.hasPrefix(source) { return String(line.dropFirst(source.count)) }
        guard let colon = line.range(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return line }
        return String(line[colon.upperBound...])
    }
}
