/// Parses the text of `Name=` into folders and parts. It works on Unicode scalars, because Swift combines a slash with
/// a following combining mark, and the kernel does not.
struct NameScanner {
    /// Maximum length of the text of `Name=`, in bytes.
    private static let longest = 500
    private static let mostComponents = 10
    /// Maximum total length of the texts, numbers and dates in one component, in bytes. The rest of the 255 bytes that
    /// a file name may have is reserved for the picture's name.
    private static let longestFixed = 180

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var components: [[NameTemplate.Part]] = [[]]
    private var text = ""
    /// Index of the current component's first scalar.
    private var start = 0

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    static func components(of text: String) throws(Refusal) -> [[NameTemplate.Part]] {
        var scanner = NameScanner(text)
        return try scanner.read()
    }

    private mutating func read() throws(Refusal) -> [[NameTemplate.Part]] {
        if scalars.first == "/" {
            throw refusal("begins with '/'", at: 0, "leave it out: names are relative to the outbox")
        }
        if let control = scalars.firstIndex(where: { $0.properties.generalCategory == .control }) {
            throw refusal("has a control character in it", at: control, "take it out")
        }
        guard String(String.UnicodeScalarView(scalars)).utf8.count <= Self.longest else {
            throw Refusal("is too long", advice: "write at most \(Self.longest) bytes")
        }
        while position < scalars.count {
            switch scalars[position] {
            case "/": try endComponent()
            case "{": try readField()
            case "}": throw refusal("has a '}' without a '{'", at: position, "write a field as {stem}")
            case let scalar:
                text.unicodeScalars.append(scalar)
                position += 1
            }
        }
        try checkComponent()
        return components
    }

    private mutating func readField() throws(Refusal) {
        let begin = position
        guard let end = scalars[begin...].firstIndex(of: "}") else {
            throw refusal("has a '{' without a '}'", at: begin, "write a field as {stem}")
        }
        let word = string(begin + 1..<end)
        let pieces = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let form = pieces.count > 1 ? pieces[1] : nil
        guard let field = NameField(rawValue: pieces[0]) else {
            throw refusal(
                "has the unknown field '{\(word)}'", at: begin,
                suggestion(for: "{\(pieces[0])}", among: NameField.allCases.map { "{\($0.rawValue)}" }))
        }
        switch field {
        case .date: try addDate(form, at: begin)
        case .counter: add(.counter(digits: try digits(form ?? "1", NameTemplate.counters, field, at: begin)))
        case .hash: add(.hash(digits: try digits(form ?? "8", NameTemplate.hashes, field, at: begin)))
        default:
            guard form == nil else {
                throw refusal("has '{\(word)}' in it", at: begin, "write {\(field.rawValue)}, which takes nothing else")
            }
            add(.field(field))
        }
        position = end + 1
    }

    /// `{date:%Y/%m}` is short for `{date:%Y}/{date:%m}`.
    private mutating func addDate(_ form: String?, at begin: Int) throws(Refusal) {
        let forms = (form ?? DateFormat.standard).split(separator: "/", omittingEmptySubsequences: false)
        for (number, part) in forms.enumerated() {
            guard let format = DateFormat(String(part)) else {
                throw refusal("has '{date:\(form ?? "")}' in it", at: begin, DateFormat.allowed)
            }
            if number > 0 { try endComponent() }
            if format.begin.hasPrefix("."), components[components.count - 1].isEmpty, text.isEmpty {
                throw hidden(at: begin)
            }
            add(.date(format))
        }
        // `endComponent` has advanced `position`, but the caller still needs the start of the field.
        position = begin
    }

    private func digits(
        _ form: String, _ range: ClosedRange<Int>, _ field: NameField, at begin: Int
    ) throws(Refusal) -> Int {
        guard form.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(form),
            range.contains(number)
        else {
            throw refusal(
                "has '{\(field.rawValue):\(form)}' in it", at: begin,
                "it may be {\(field.rawValue):\(range.lowerBound)} to {\(field.rawValue):\(range.upperBound)}")
        }
        return number
    }

    private mutating func add(_ part: NameTemplate.Part) {
        if !text.isEmpty { components[components.count - 1].append(.text(text)) }
        text = ""
        components[components.count - 1].append(part)
    }

    // MARK: - Folders

    private mutating func endComponent() throws(Refusal) {
        try checkComponent()
        components.append([])
        position += 1
        start = position
        guard components.count <= Self.mostComponents else {
            throw refusal("has too many folders", at: position - 1, "it may have \(Self.mostComponents - 1)")
        }
    }

    private mutating func checkComponent() throws(Refusal) {
        if !text.isEmpty { components[components.count - 1].append(.text(text)) }
        text = ""
        let component = components[components.count - 1]
        guard let first = component.first else {
            if position < scalars.count { throw refusal("has a folder without a name", at: position, "write one '/'") }
            throw refusal("ends with '/'", at: max(0, position - 1), "name the file after it, such as {stem}")
        }
        if case .text(let text) = first, text.unicodeScalars.first == "." { throw hidden(at: start) }
        guard component.reduce(0, { $0 + $1.fixedLength }) <= Self.longestFixed else {
            throw refusal("has a name that is too long", at: start, "write less text: the picture's name needs room")
        }
    }

    // MARK: - Mistakes

    private func hidden(at place: Int) -> Refusal {
        refusal("has a name that begins with '.'", at: place, "begin it otherwise: hidden files and '..' are left out")
    }

    private func refusal(_ complaint: String, at place: Int, _ advice: String) -> Refusal {
        Refusal(complaint, advice: advice, column: string(0..<min(place, scalars.count)).count + 1)
    }

    private func string(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }
}

extension NameTemplate.Part {
    /// Maximum length in bytes; 0 for a field that may be shortened if the name is too long.
    fileprivate var fixedLength: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .date(let format): format.length
        case .counter(let digits): max(digits, 10)
        case .hash(let digits): digits
        case .field(.width), .field(.height): 6
        case .field(.format): 4
        case .field: 0
        }
    }
}
