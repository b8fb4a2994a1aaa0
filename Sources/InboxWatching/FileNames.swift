package import PipelineModel

/// Decides by a file's name alone whether an inbox takes the file.
package enum FileNames {
    /// Whether the name marks a hidden or incomplete file, which inboxes skip silently.
    package static func isPartial(_ name: String) -> Bool {
        if isHidden(name) || name.utf8.last == UInt8(ascii: "~") { return true }
        let lower = name.lowercased()
        return [".part", ".partial", ".crdownload", ".tmp", ".download", ".filepart"].contains(where: lower.hasSuffix)
    }

    /// Whether the file is a list of URLs.
    package static func isList(_ name: String) -> Bool { AddressList.kind(of: name) != nil }

    static func isHidden(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ".") }

    /// Why an inbox of the recipe skips files of this name, or nil.
    package static func reasonForLeaving(_ name: String, _ recipe: Recipe) -> String? {
        if isHidden(name) { return "it is hidden" }
        if isPartial(name) { return "it is still on its way, as its name says" }
        return recipe.matches(name) ? nil : reasonForIgnoring(name, recipe: recipe.name)
    }

    /// Why the recipe does not take a file of this name.
    package static func reasonForIgnoring(_ name: String, recipe: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return "recipe '\(recipe)' takes no files without a suffix" }
        let suffix = name[name.index(after: dot)...].lowercased()
        if let kind = unread[suffix] { return "\(kind) (.\(suffix)) is not read; save it as JPEG, PNG or TIFF" }
        return "recipe '\(recipe)' takes no *.\(suffix); its Match= says which it does"
    }

    /// File types that no recipe can read, whatever its Match= says.
    private static let unread = [
        "jp2": "a JPEG 2000 picture", "j2k": "a JPEG 2000 picture", "jpf": "a JPEG 2000 picture",
        "jpx": "a JPEG 2000 picture", "jxl": "a JPEG XL picture", "psd": "a Photoshop document",
        "svg": "an SVG drawing", "pdf": "a PDF document",
    ]
}
