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
            // Encoders report this even when the picture could not be read. `ResultTarget` records failed writes.
            .filter { !$0.contains("unable to write to target") }
        // The last warning has the reason for a vague line.
        let isVague = lines.isEmpty || lines.contains { $0.hasSuffix(pngError) }
        return VipsError(lines: lines + (isVague ? VipsWarning.take().map { [$0] } ?? [] : []))
    }

    /// The end of libpng's message and of libspng's; libvips reads PNG with either.
    private static let pngError = "png read error"

    /// Clears messages about a picture, so that the next failure does not report them.
    static func forget() {
        vips_error_clear()
        _ = VipsWarning.take()
    }

    /// Whether encoding failed rather than reading; one lazy pipeline does both. The first failure decides.
    var isOfEncoding: Bool {
        // Some encoders' names include their kind of target: jxlsave_target.
        lines.first?.prefix(while: { $0 != ":" && $0 != "_" }).hasSuffix("save") ?? false
    }

    /// Whether an allocation failed, in the words of libvips and of the libraries below it.
    var isOfMemory: Bool {
        lines.contains { line in
            let line = line.lowercased()
            return ["out of memory", "insufficient memory", "memory allocation", "no memory"].contains(
                where: line.contains)
        }
    }

    /// Whether a reader asked for rows that had already passed.
    var isOfOrder: Bool { lines.contains { $0.contains("out of order read") } }

    /// Lines that only accompany the reason.
    private static let vague = [
        "extraneous bytes", "bad seek to", pngError, "tiff2vips: read error", "error in tile",
        "unable to open source for input",
    ]

    /// libvips' reason, for messages that have no other text.
    var reason: String { ownReason ?? "libvips gave no reason" }

    /// `known`, followed by libvips' reason, if there is one.
    func adding(to known: String) -> String { known + (ownReason.map { " (\($0))" } ?? "") }

    /// The first line that matters, without the name of the part of libvips that reported it.
    private var ownReason: String? {
        let matters = lines.first { line in !Self.vague.contains(where: line.contains) }
        guard let line = matters ?? lines.first else { return nil }
        let source = "source input: "
        if line.hasPrefix(source) { return String(line.dropFirst(source.count)) }
        guard let colon = line.range(of: ": "), !line[..<colon.lowerBound].contains(" ") else { return line }
        return String(line[colon.upperBound...])
    }
}
