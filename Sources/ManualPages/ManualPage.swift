/// A manual page of a program or a file format. Text between backquotes is set in bold.
public struct ManualPage: Sendable {
    public enum Part: Sendable {
        case section(String)
        case heading(String)
        case paragraph(String)
        /// A term such as an option, the placeholder for its value, and an explanation.
        case entry(String, value: String, String)
        /// Preformatted lines.
        case lines([String])
    }

    public var name: String
    /// The section of the manual: 1 for programs, 5 for file formats, 8 for administration programs.
    public var section: Int
    /// The line that `apropos` shows.
    public var summary: String
    public var parts: [Part]

    public init(_ name: String, section: Int, summary: String, parts: [Part]) {
        (self.name, self.section, self.summary, self.parts) = (name, section, summary, parts)
    }

    /// A section SEE ALSO, for the end of a page.
    public static func others(_ pages: (name: String, section: Int)...) -> [Part] {
        [.section("SEE ALSO"), .paragraph(pages.map { "`\($0.name)`(\($0.section))" }.joined(separator: ", "))]
    }
}
