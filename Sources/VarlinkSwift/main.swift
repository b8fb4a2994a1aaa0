import Foundation

// VarlinkSwift MADE TEXT…: generates one Swift file from `.varlink` texts.
let interfaces = CommandLine.arguments.dropFirst(2).map { path in
    do {
        return try VarlinkText(String(contentsOfFile: path, encoding: .utf8))
    } catch {
        // The message has a compiler's form, so editors find the line.
        print("\(path):\((error as? VarlinkText.Problem)?.line ?? 1): error: \(error)")
        exit(1)
    }
}
let lines = swiftSource(of: interfaces)
try (lines.joined(separator: "\n") + "\n").write(toFile: CommandLine.arguments[1], atomically: true, encoding: .utf8)
