/// Parses `name key=value key="quoted value" | name …` into elements. Does not check whether the stages exist.
struct ChainScanner {
    private let characters: [Character]
    private var position = 0

    private init(_ text: String) {
        characters = Array(text)
    }

    static func elements(of text: String) throws(ChainProblem) -> [ChainElement] {
        var scanner = ChainScanner(text)
        return try scanner.elements()
    }

    private var column: Int { position + 1 }
    private var next: Character? { position < characters.count ? characters[position] : nil }

    private mutating func elements() throws(ChainProblem) -> [ChainElement] {
        var elements: [ChainElement] = []
        var current: ChainElement?
        var lastPipe: Int?
        while true {
            skipSpaces()
            if let next, next != "|" {
                try readWord(into: &current)
                continue
            }
            guard let complete = current else { throw emptyStage(after: lastPipe) }
            elements.append(complete)
            if next == nil { return elements }
            lastPipe = column
            position += 1
            current = nil
        }
    }

    private func emptyStage(after pipe: Int?) -> ChainProblem {
        if next == nil, pipe == nil {
            return ChainProblem("the chain is empty", column: 1, advice: "write a stage, such as resize scale=0.5")
        }
        return ChainProblem(
            "empty stage", column: next == nil ? pipe ?? column : column,
            advice: "write a stage beside the | or remove it")
    }

    /// Parses one word. The first word of an element is the stage's name; each later word is an assignment.
    private mutating func readWord(into element: inout ChainElement?) throws(ChainProblem) {
        let start = column
        let name = take { $0 != "=" && !$0.isWhitespace && $0 != "|" }
        if next == "=" {
            position += 1
            let value = try next == "\"" ? quoted() : take { !$0.isWhitespace && $0 != "|" }
            guard !name.isEmpty else {
                throw ChainProblem("'=' without a name", column: start, advice: "write name=value, without spaces")
            }
            guard element != nil else {
                throw ChainProblem(
                    "'\(name)=\(value)' without a stage", column: start, advice: "write a stage's name first")
            }
            element?.assignments.append(.init(name: name, value: value, column: start))
        } else if element == nil {
            element = ChainElement(name: name, column: start)
        } else {
            element?.assignments.append(.init(name: name, value: nil, column: start))
        }
    }

    /// Parses a quoted value, in which `\"` stands for a quote and `\\` for a backslash.
    private mutating func quoted() throws(ChainProblem) -> String {
        let start = column
        position += 1
        var value = ""
        while let character = next, character != "\"" {
            position += 1
            if character == "\\", let escaped = next, escaped == "\"" || escaped == "\\" {
                position += 1
                value.append(escaped)
            } else {
                value.append(character)
            }
        }
        guard next == "\"" else { throw ChainProblem("unclosed quote", column: start, advice: "close it with \"") }
        position += 1
        if let next, next != "|", !next.isWhitespace {
            throw ChainProblem("text after a closing quote", column: column, advice: "put a space between")
        }
        return value
    }

    private mutating func skipSpaces() {
        _ = take { $0.isWhitespace }
    }

    private mutating func take(while belongs: (Character) -> Bool) -> String {
        let start = position
        while let next, belongs(next) { position += 1 }
        return String(characters[start..<position])
    }
}
