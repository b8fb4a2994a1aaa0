import CLinux
import Glibc

/// What lies at the other end of a descriptor, when it is a terminal.
public enum Terminal {
    public static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// How many columns wide it is, when it is a terminal that says so.
    public static func columns(_ descriptor: Int32) -> Int? {
        let columns = Int(clinux_terminal_columns(descriptor))
        return columns > 0 ? columns : nil
    }

    /// How many rows high it is, likewise.
    public static func rows(_ descriptor: Int32) -> Int? {
        let rows = Int(clinux_terminal_rows(descriptor))
        return rows > 0 ? rows : nil
    }

    /// How many columns a character takes, by the process's locale: nil when it is none that can be seen.
    public static func columns(of character: Unicode.Scalar) -> Int? {
        let columns = Int(clinux_character_columns(character.value))
        return columns >= 0 ? columns : nil
    }
}
