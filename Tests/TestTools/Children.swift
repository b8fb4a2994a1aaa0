import Foundation
import Glibc
import SystemCalls

/// The programs that a process has started, as /proc has them.
public enum Children {
    /// The children of a process, by the name of their program or its beginning. The kernel lists a child below the thread that
    /// has started it, and an orphan below any.
    public static func of(_ process: Int32, named name: String = "") throws -> [Int32] {
        let tasks = "/proc/\(process)/task"
        let children = try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { thread in
            read("\(tasks)/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
        }
        return name.isEmpty ? children : children.filter { read("/proc/\($0)/comm").hasPrefix(name) }
    }

    /// Foundation leaks a page for each file without length or bytes that it reads.
    private static func read(_ path: String) -> String {
        let bytes = try? FileSystem.read(try Descriptor.open(path, O_RDONLY), most: .max, called: path)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }
}
