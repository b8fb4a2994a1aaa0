import Foundation
import TestTools
import Testing

/// Runs exiftool, which reads and writes all kinds of metadata independently of libvips and this project.
enum ExifTool {
    private static func run(_ arguments: [String]) throws -> ChildProcess {
        let process = try ChildProcess("/usr/bin/exiftool", arguments)
        _ = process.wait()
        return process
    }

    /// Writes tags into files. A file gets only the tags that its format can hold.
    static func write(_ tags: [String], into files: [String]) throws {
        let process = try run(["-q", "-m", "-overwrite_original"] + tags + files)
        try #require(process.status == 0, "exiftool: \(process.errors)")
    }

    /// Returns the metadata of the files, by path and by `group:tag`.
    static func read(_ files: [String]) throws -> [String: [String: String]] {
        let process = try run(["-json", "-G1", "-a", "-n"] + files)
        let list = try JSONSerialization.jsonObject(with: Data(process.output.utf8)) as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: list.map { tags in
                (tags["SourceFile"] as? String ?? "", tags.mapValues { "\($0)" })
            })
    }
}
