/// An option of a program's command line. The parser, the help and the manual all derive from this declaration.
package protocol ProgramOption: RawRepresentable, CaseIterable, Sendable where RawValue == String {
    static var program: String { get }

    /// The placeholder for the option's value in the help, or nil if the option takes no value.
    var value: String? { get }

    var help: String { get }
}

extension ProgramOption {
    /// Parses a command line with `--option value` or `--option=value`. `-h` is `--help`.
    package static func read(_ words: some Sequence<String>) throws(UsageError) -> [(option: Self, value: String)] {
        var words = words.makeIterator()
        var read: [(Self, String)] = []
        while let word = words.next() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = Self(rawValue: word == "-h" ? "--help" : parts[0]) else {
                throw misuse("'\(word)' is not known")
            }
            guard let kind = option.value else {
                if parts.count > 1 { throw misuse("\(option.rawValue) takes no value") }
                read.append((option, ""))
                continue
            }
            guard let value = parts.count > 1 ? parts[1] : words.next(), !value.isEmpty else {
                throw misuse("\(option.rawValue) wants a value: \(option.rawValue) \(kind)")
            }
            read.append((option, value))
        }
        return read
    }

    package static func misuse(_ complaint: String) -> UsageError {
        UsageError(description: "\(complaint); see `\(program) --help`")
    }

    package var written: String { value.map { "\(rawValue) \($0)" } ?? rawValue }

    /// The text for `--help`, with one line for each option.
    package static var lines: String {
        let width = (allCases.map(\.written.count).max() ?? 0) + 3
        return allCases.map { option in
            "  \(option.written)\(String(repeating: " ", count: width - option.written.count))\(option.help)"
        }.joined(separator: "\n")
    }
}

package struct UsageError: Error, CustomStringConvertible {
    package let description: String
}
