import Foundation
import Testing

/// libvips' own command, for pictures of kinds that the worker reads and does not write.
enum VipsTool {
    /// `vips COMMAND in out OPTIONS…`: what it makes of `picture`.
    static func run(
        _ command: String, _ picture: TemporaryFile, _ options: [String] = [], suffix: String = ""
    ) throws -> TemporaryFile {
        let result = try TemporaryFile()
        let made = result.path + suffix
        let vips = Process()
        vips.executableURL = URL(fileURLWithPath: "/usr/bin/vips")
        vips.arguments = [command, picture.path, made] + options
        vips.standardError = FileHandle.nullDevice
        try vips.run()
        vips.waitUntilExit()
        try #require(vips.terminationStatus == 0, "vips \(command) \(options)")
        if made != result.path {
            try FileManager.default.removeItem(atPath: result.path)
            try FileManager.default.moveItem(atPath: made, toPath: result.path)
        }
        return result
    }
}
