import Foundation
import Glibc

/// Files and folders of the bench.
enum Folder {
    static func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// But for those that are hidden, as an outbox's staging folder is.
    static func names(in path: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return all.filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Out of the way, its files emptied, until all that was measured is deleted. On an ext4 without a journal, whoever makes files pays
    /// for each that was deleted in the minutes before.
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

    /// The last lines of a log.
    static func end(of log: String) -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(5).joined(separator: "\n")
    }

    /// What has been written before a measurement does not go to the disk during it.
    static func settle() { sync() }
}
