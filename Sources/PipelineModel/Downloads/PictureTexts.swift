/// The texts about a picture from a list with columns.
public struct PictureTexts: Codable, Sendable, Hashable {
    /// The picture's file name; takes precedence over the server's name.
    public var name: String?
    /// A description of the picture, written into the metadata of the results.
    public var caption: String?
    /// The name to print beside the picture, written into the metadata of the results.
    public var credit: String?

    public init(name: String? = nil, caption: String? = nil, credit: String? = nil) {
        (self.name, self.caption, self.credit) = (name, caption, credit)
    }

    var isEmpty: Bool { self == PictureTexts() }

    /// Maximum length in bytes. It equals the limit of IPTC's caption, so that IPTC and XMP agree.
    static let longestCaption = 2000
    static let longestCredit = 250

    static func caption(_ text: String) throws(Refusal) -> String {
        try checked(text.replacing("\r\n", with: "\n"), "caption", most: longestCaption, lines: true)
    }

    static func credit(_ text: String) throws(Refusal) -> String {
        try checked(text, "credit", most: longestCredit, lines: false)
    }

    private static func checked(
        _ text: String, _ what: String, most: Int, lines: Bool
    ) throws(Refusal) -> String {
        guard text.utf8.count <= most else {
            throw Refusal("has a \(what) of \(text.utf8.count) bytes", advice: "\(most) are allowed: shorten it")
        }
        let isWritable = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && scalar.value != 0x7f && !scalar.properties.isNoncharacterCodePoint
                || scalar == "\t" || lines && scalar == "\n"
        }
        guard isWritable else {
            let kind = lines ? "a control character" : "a line break or a control character"
            throw Refusal("has \(kind) in its \(what)", advice: "take it out")
        }
        guard !text.unicodeScalars.contains("\u{fffd}") else {
            throw Refusal("has a \(what) that is not UTF-8", advice: "save the list in UTF-8 or UTF-16")
        }
        return text
    }
}

extension PlannedPicture {
    /// Adds caption and credit to the last stage of a result. The worker then writes them into the result.
    public func saying(_ texts: PictureTexts?) -> PlannedPicture {
        guard let texts, isResult, var save = stages.last else { return self }
        save.arguments["caption"] = texts.caption.map(ArgumentValue.text)
        save.arguments["credit"] = texts.credit.map(ArgumentValue.text)
        return PlannedPicture(
            index: index, source: source, earlier: earlier, stages: stages.dropLast() + [save], isResult: isResult,
            name: name, naming: naming, condition: condition)
    }
}
