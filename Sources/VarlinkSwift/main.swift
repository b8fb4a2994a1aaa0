import Foundation

// Usage: VarlinkSwift OUTPUT INPUT…. Generates one Swift file, OUTPUT, from several `.varlink` files.
let interfaces = CommandLine.arguments.dropFirst(2).map { path in
    do {
        return try VarlinkText(String(contentsOfFile: path, encoding: .utf8))
    } catch {
        // The message has the format of a compiler's error, so that editors can jump to the line.
        print("\(path):\((error as? VarlinkText.Problem)?.line ?? 1): error: \(error)")
        exit(1)
    }
}
let lines = swiftSource(of: interfaces)
try (lines.joined(separator: "\n") + "\n").write(toFile: CommandLine.arguments[1], atomically: true, encoding: .utf8)
