import Foundation
import Glibc
import SystemCalls

/// The child processes of a process, from /proc.
public enum Children {
    /// Returns the children whose program name starts with `name`. The kernel lists a child under the thread that
    /// started it, and an orphan under any thread, so all threads are searched.
    public static func of(_ process: Int32, named name: String = "") throws -> [Int32] {
        let tasks = "/proc/\(process)/task"
        let children = try FileManager.default.contentsOfDirectory(atPath: tasks).flatMap { thread in
            read("\(tasks)/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
        }
        return name.isEmpty ? children : children.filter { read("/proc/\($0)/comm").hasPrefix(name) }
    }

    /// Reads a file without Foundation, which leaks a page each time it reads a file that is empty or has no length.
    private static func read(_ path: String) -> String {
        let bytes = try? FileSystem.read(try Descriptor.open(path, O_RDONLY), most: .max, called: path)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }
}
