import Foundation
import Glibc

/// The bench's files and folders.
enum Folder {
    static func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the names of the files that are not hidden. An outbox's staging folder is hidden.
    static func names(in path: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return all.filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Moves files out of the way and empties them. They are deleted only after all measurements: on an ext4 without a
    /// journal, creating a file costs time for each file that was deleted in the minutes before.
    static func putAside(_ path: String, in aside: String) {
        let below = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        for file in [path] + below.map({ "\(path)/\($0)" }) { truncate(file, 0) }
        try? make(aside)
        rename(path, "\(aside)/\(UUID().uuidString)")
    }

    static func move(_ path: String, to target: String) throws {
        guard rename(path, target) == 0 else {
            throw BenchError("\(path) can't be renamed to \(target): \(String(cString: strerror(errno)))")
        }
    }

    static func copy(_ path: String, to target: String) throws {
        try FileManager.default.copyItem(atPath: path, toPath: target)
    }

    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the last lines of a log.
    static func end(of log: String) -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(5).joined(separator: "\n")
    }

    /// Flushes earlier writes, so that they don't reach the disk during a measurement.
    static func settle() { sync() }
}
