/// A random word that identifies a process, an attempt or a command.
enum Token {
    static func made() -> String {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    static func isOne(_ word: some StringProtocol) -> Bool {
        word.utf8.count == 16
            && word.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}
