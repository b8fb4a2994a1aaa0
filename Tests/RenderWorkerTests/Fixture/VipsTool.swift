import Foundation
import TestTools
import Testing

/// Runs the `vips` command, which makes kinds of pictures that the worker can read but not write.
enum VipsTool {
    /// Runs `vips COMMAND in out OPTIONS…` on `picture`; returns the resulting file.
    static func run(
        _ command: String, _ picture: TemporaryFile, _ options: [String] = [], suffix: String = ""
    ) throws -> TemporaryFile {
        let result = try TemporaryFile()
        let made = result.path + suffix
        let outcome = try ChildProcess("/usr/bin/vips", [command, picture.path, made] + options).wait()
        try #require(outcome.status == 0, "vips \(command) \(options): \(outcome.errors)")
        if made != result.path {
            try FileManager.default.removeItem(atPath: result.path)
            try FileManager.default.moveItem(atPath: made, toPath: result.path)
        }
        return result
    }
}
