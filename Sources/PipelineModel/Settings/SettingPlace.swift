/// Position of a setting's value in its file. Line and column count from 1.
public struct SettingPlace: Sendable, Hashable {
    public let line: Int
    public let column: Int

    init(_ value: PlacedText) { (line, column) = value.place(at: 0) }
}
