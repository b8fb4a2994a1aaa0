/// A page of the manual: what a program knows of itself, in the parts that such a page has. In texts, words between backquotes stand out.
public struct ManualPage: Sendable {
    public enum Part: Sendable {
        case section(String)
        /// A heading within a section.
        case heading(String)
        case paragraph(String)
        /// A term as one writes it, what it wants behind it, and below it what there is to say.
        case entry(String, value: String, String)
        /// Lines that stay as they are.
        case lines([String])
    }

    public var name: String
    /// The section of the manual that it belongs to: 1 for programs, 5 for files, 8 for the administrator's programs.
    public var section: Int
    /// What `apropos` shows.
    public var summary: String
    public var parts: [Part]

    public init(_ name: String, section: Int, summary: String, parts: [Part]) {
        self.name = name
        self.section = section
        self.summary = summary
        self.parts = parts
    }

    /// The last section of a page: which others there are, by name and section.
    public static func others(_ pages: (name: String, section: Int)...) -> [Part] {
        [.section("SEE ALSO"), .paragraph(pages.map { "`\($0.name)`(\($0.section))" }.joined(separator: ", "))]
    }
}
