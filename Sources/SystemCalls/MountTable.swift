import Foundation
import Glibc

/// The mounted file systems. The kernel lists them without asking them, so a file system that hangs does no harm.
public enum MountTable {
    static let path = "/proc/self/mountinfo"

    /// The number of mounts that a folder lies under. If the number falls, a mount is gone, and the folder shows the
    /// files that the mount had covered.
    public static func depth(of folder: String) throws(SystemError) -> Int {
        depth(of: folder, in: try text(of: Descriptor.open(path, O_RDONLY)))
    }

    /// Counts in the kernel's text, where the fifth word of a line is the mount point.
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
            // The file can always be read; a change is an exceptional condition.
            var ready = pollfd(fd: file.number, events: Int16(POLLPRI), revents: 0)
            while true { if poll(&ready, 1, -1) > 0 { changed() } }
        }
    }

    /// The kernel's text as of one moment. Without the check, a disk that is remounted between two reads would be in
    /// both. In a storm of mounts the last text must do.
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

    /// The kernel writes spaces and the like as `\040`.
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
