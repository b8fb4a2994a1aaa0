/// A case-insensitive pattern for file names: `*`, `?`, `[a-z]` and `[!a-z]`. A `[` without a `]` is literal.
struct Glob: Sendable, Hashable {
    private enum Element: Hashable {
        case anything
        case oneOf([ClosedRange<Character>], negated: Bool)
        case exactly(Character)

        func matches(_ character: Character) -> Bool {
            switch self {
            case .anything: true
            case .oneOf(let ranges, let negated): ranges.contains { $0.contains(character) } != negated
            case .exactly(let wanted): character == wanted
            }
        }
    }

    private let elements: [Element]

    init(_ pattern: String) {
        var rest = Array(pattern.lowercased())[...]
        var elements: [Element] = []
        while let character = rest.popFirst() {
            switch character {
            case "*": elements.append(.anything)
            case "?": elements.append(.oneOf([], negated: true))
            case "[": elements.append(Self.set(from: &rest) ?? .exactly(character))
            default: elements.append(.exactly(character))
            }
        }
        self.elements = elements
    }

    /// Parses the set after a `[`. Returns nil and consumes nothing if there is no `]`.
    private static func set(from rest: inout ArraySlice<Character>) -> Element? {
        let negated = rest.first == "!" || rest.first == "^"
        let body = negated ? rest.dropFirst() : rest
        // As in the shell, a `]` at the very start belongs to the set and does not close it.
        guard let end = body.dropFirst().firstIndex(of: "]") else { return nil }
        var members = body[..<end]
        rest = rest[(end + 1)...]
        var ranges: [ClosedRange<Character>] = []
        while let low = members.popFirst() {
            if members.count >= 2, members.first == "-" {
                let high = members[members.startIndex + 1]
                members = members.dropFirst(2)
                if low <= high { ranges.append(low...high) }
            } else {
                ranges.append(low...low)
            }
        }
        return .oneOf(ranges, negated: negated)
    }

    /// Backtracks only to the last `*`, so that the time is at most proportional to the pattern's length times the
    /// name's.
    func matches(_ name: String) -> Bool {
        let name = Array(name.lowercased())
        var (at, element) = (0, 0)
        var star: (element: Int, at: Int)?
        while at < name.count {
            if element < elements.count, elements[element] == .anything {
                star = (element, at)
                element += 1
            } else if element < elements.count, elements[element].matches(name[at]) {
                at += 1
                element += 1
            } else if let last = star {
                star = (last.element, last.at + 1)
                (element, at) = (last.element + 1, last.at + 1)
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { $0 == .anything }
    }
}
