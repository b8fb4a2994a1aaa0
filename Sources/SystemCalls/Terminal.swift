import CLinux
import Glibc

/// Properties of terminals: whether a descriptor refers to one, its size, and the width of characters.
public enum Terminal {
    public static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    public static func columns(_ descriptor: Int32) -> Int? {
        let columns = Int(clinux_terminal_columns(descriptor))
        return columns > 0 ? columns : nil
    }

    public static func rows(_ descriptor: Int32) -> Int? {
        let rows = Int(clinux_terminal_rows(descriptor))
        return rows > 0 ? rows : nil
    }

    /// The number of columns that a character occupies in the process's locale; nil for an unprintable character.
    public static func columns(of character: Unicode.Scalar) -> Int? {
        let columns = Int(clinux_character_columns(character.value))
        return columns >= 0 ? columns : nil
    }
}
