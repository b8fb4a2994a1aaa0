import CLinux
import Glibc

/// The size of the terminal at a descriptor, if there is one.
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

    /// The columns that a character takes, by the process's locale; nil for an invisible one.
    public static func columns(of character: Unicode.Scalar) -> Int? {
        let columns = Int(clinux_character_columns(character.value))
        return columns >= 0 ? columns : nil
    }
}
