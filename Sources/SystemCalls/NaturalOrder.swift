/// Orders paths as people expect: `img2` before `img10`, regardless of case. A folder's own files precede the files of
/// its subfolders.
public struct NaturalOrder: Comparable, Sendable {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private let path: String

    public init(_ path: String) { self.path = path }

    public static func == (one: NaturalOrder, other: NaturalOrder) -> Bool {
        one.path.utf8.elementsEqual(other.path.utf8)
    }

    public static func < (one: NaturalOrder, other: NaturalOrder) -> Bool {
        var (one, other) = (one.path, other.path)
        return one.withUTF8 { one in other.withUTF8 { isBefore(one[...], $0[...]) } }
    }

    private static func isBefore(_ one: Bytes, _ other: Bytes) -> Bool {
        var (mine, yours) = (one, other)
        while true {
            let (name, rest) = first(of: mine)
            let (otherName, otherRest) = first(of: yours)
            // A file comes before a folder.
            guard (rest == nil) == (otherRest == nil) else { return rest == nil }
            let order = compare(name, otherName)
            if order != 0 { return order < 0 }
            guard let rest, let otherRest else { return false }
            (mine, yours) = (rest, otherRest)
        }
    }

    /// The first component of a path, and the rest of the path after its slash.
    private static func first(of path: Bytes) -> (name: Bytes, rest: Bytes?) {
        guard let slash = path.firstIndex(of: UInt8(ascii: "/")) else { return (path, nil) }
        return (path[..<slash], path[(slash + 1)...])
    }

    /// Negative if `one` precedes `other`. Zero only if both have the same bytes.
    private static func compare(_ one: Bytes, _ other: Bytes) -> Int {
        var (i, j) = (one.startIndex, other.startIndex)
        while i < one.endIndex, j < other.endIndex {
            if isDigit(one[i]), isDigit(other[j]) {
                let (number, otherNumber) = (number(in: one, from: &i), number(in: other, from: &j))
                if number.count != otherNumber.count { return number.count - otherNumber.count }
                if let difference = difference(number, otherNumber) { return difference }
            } else {
                let difference = Int(lowercased(one[i])) - Int(lowercased(other[j]))
                if difference != 0 { return difference }
                (i, j) = (i + 1, j + 1)
            }
        }
        let rest = (one.endIndex - i) - (other.endIndex - j)
        // If `rest` is 0, the names differ at most in case or in leading zeros: `a` and `A`, or `1` and `01`.
        return rest != 0 ? rest : difference(one, other) ?? one.count - other.count
    }

    /// The digits at `index`, without leading zeros. Moves `index` past them.
    private static func number(in name: Bytes, from index: inout Int) -> Bytes {
        let digits = name[index...].prefix(while: isDigit)
        index = digits.endIndex
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func difference(_ one: Bytes, _ other: Bytes) -> Int? {
        zip(one, other).first { $0 != $1 }.map { Int($0) - Int($1) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}
