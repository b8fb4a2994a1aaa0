import Foundation
import Glibc

/// The mounted file systems. The kernel lists them without accessing them, so a hanging file system does not block a
/// caller.
public enum MountTable {
    static let path = "/proc/self/mountinfo"

    /// The number of mount points at or above a folder. If the number falls, a file system was unmounted, and the
    /// folder now shows files that the mount had hidden.
    public static func depth(of folder: String) throws(SystemError) -> Int {
        depth(of: folder, in: try text(of: Descriptor.open(path, O_RDONLY)))
    }

    /// Counts the mount points in the text of the mount table. The fifth word of each line is a mount point.
    static func depth(of folder: String, in text: String) -> Int {
        text.split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count > 4 && FileSystem.lies(folder, within: unescaped(words[4]))
        }
    }

    /// Calls `changed` whenever something is mounted or unmounted, for as long as the process lives.
    public static func watch(_ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        let file = try Descriptor.open(path, O_RDONLY)
        Thread.detachNewThread {
            // The file is always readable; poll(2) reports a change as an exceptional condition.
            var ready = pollfd(fd: file.number, events: Int16(POLLPRI), revents: 0)
            while true { if poll(&ready, 1, -1) > 0 { changed() } }
        }
    }

    /// Returns a consistent text of the mount table. If the table changes while it is read, starts again, because a
    /// disk that is remounted in between could be listed twice. After 20 attempts, returns the latest text.
    static func text(of file: Descriptor) throws(SystemError) -> String {
        var text = ""
        for _ in 1...20 {
            text = try rest(of: file)
            var change = pollfd(fd: file.number, events: Int16(POLLPRI), revents: 0)
            if poll(&change, 1, 0) == 0 { break }
            lseek(file.number, 0, SEEK_SET)
        }
        return text
    }

    private static func rest(of file: Descriptor) throws(SystemError) -> String {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let got = Glibc.read(file.number, &room, room.count)
            guard got >= 0 else { throw SystemError("read", path) }
            if got == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += room[..<got]
        }
    }

    /// Decodes the kernel's octal escapes, such as `\040` for a space.
    static func unescaped(_ word: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3, let code = UInt8(String(digits) ?? "", radix: 8) else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
