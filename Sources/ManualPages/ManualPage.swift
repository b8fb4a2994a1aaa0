/// A page of the manual: a program's description of itself, in the usual parts. Words between backquotes stand out.
public struct ManualPage: Sendable {
    public enum Part: Sendable {
        case section(String)
        case heading(String)
        case paragraph(String)
        /// A term, its value, and the explanation below.
        case entry(String, value: String, String)
        /// Lines that keep their breaks.
        case lines([String])
    }

    public var name: String
    /// The section of the manual: 1 for programs, 5 for files, 8 for the administrator's programs.
    public var section: Int
    /// The line that `apropos` shows.
    public var summary: String
    public var parts: [Part]

    public init(_ name: String, section: Int, summary: String, parts: [Part]) {
        (self.name, self.section, self.summary, self.parts) = (name, section, summary, parts)
    }

    /// The last section of a page: other pages with their sections.
    public static func others(_ pages: (name: String, section: Int)...) -> [Part] {
        [.section("SEE ALSO"), .paragraph(pages.map { "`\($0.name)`(\($0.section))" }.joined(separator: ", "))]
    }
}
