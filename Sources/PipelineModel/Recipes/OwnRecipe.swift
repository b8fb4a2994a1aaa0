/// A recipe that the daemon writes for a client. It contains only settings that make pictures: it can't name a folder
/// or a program, or remove an original.
public struct OwnRecipe: Sendable {
    public struct Output: Sendable {
        /// Nil for the output without a name.
        public var name: String?
        public var chain: String
        /// The text of `Name=`.
        public var naming: String?

        public init(name: String?, chain: String, naming: String?) {
            (self.name, self.chain, self.naming) = (name, chain, naming)
        }
    }

    private static let longestDescription = 500

    public let name: String
    public let description: String?
    public let outputs: [Output]

    public init(name: String, description: String?, outputs: [Output]) {
        (self.name, self.description, self.outputs) = (name, description, outputs)
    }

    /// Returns the text of the recipe's file. Throws if the daemon would read other values from this text, for example
    /// because a value has several lines.
    public func text() throws(Refusal) -> String {
        try Self.check(name)
        guard !outputs.isEmpty else { throw Refusal("has no output", advice: "give it a chain") }
        guard (description ?? "").utf8.count <= Self.longestDescription else {
            throw Refusal("has a description of more than \(Self.longestDescription) bytes", advice: "shorten it")
        }
        var sections: [(header: String, settings: [(key: String, value: String)])] = [("Recipe", [])]
        if let description, !description.isEmpty { sections[0].settings.append(("Description", description)) }
        for output in outputs {
            let header = output.name.map { "Output \($0)" } ?? "Output"
            let naming = output.naming.map { [("Name", $0)] } ?? []
            sections.append((header, [("Chain", output.chain)] + naming))
        }
        let text = sections.map { header, settings in
            "[\(header)]\n" + settings.map { "\($0)=\($1)\n" }.joined()
        }.joined(separator: "\n")
        let read = SectionedText(ConfigurationText(name: name, text: text)).sections
        let isSame =
            read.count == sections.count
            && zip(read, sections).allSatisfy { read, written in
                read.header == written.header
                    && read.assignments.map { [$0.key, $0.value.text] } == written.settings.map { [$0.key, $0.value] }
            }
        guard isSame else {
            throw Refusal(
                "has a value that no recipe can have",
                advice: "a value has one line, does not begin or end with a space, and does not end with a backslash")
        }
        return "# A client of the daemon has made this: the page, or `pipectl recipes save`.\n\n\(text)"
    }

    /// Throws unless a recipe can have this name, which is also the name of its inbox folder.
    public static func check(_ name: String) throws(Refusal) {
        func isPlain(_ byte: UInt8) -> Bool {
            (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
        }
        let bytes = Array(name.utf8)
        guard
            bytes.count <= 60, bytes.first.map(isPlain) == true,
            bytes.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else {
            throw Refusal(
                "can't be a recipe's name: it begins with a letter or digit; letters, digits, - and _ follow, 60 in all"
            )
        }
    }
}
