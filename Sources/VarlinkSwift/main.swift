import Foundation

// Usage: VarlinkSwift OUTPUT PAGE INPUT…. Generates one Swift file, OUTPUT, from several `.varlink` files, and updates
// the tables of fields in a Markdown page.
let (output, page) = (CommandLine.arguments[1], CommandLine.arguments[2])
let interfaces = CommandLine.arguments.dropFirst(3).map { path in
    do {
        return try VarlinkText(String(contentsOfFile: path, encoding: .utf8))
    } catch {
        // The message has the format of a compiler's error, so that editors can jump to the line.
        print("\(path):\((error as? VarlinkText.Problem)?.line ?? 1): error: \(error)")
        exit(1)
    }
}
let source = swiftSource(of: interfaces).joined(separator: "\n") + "\n"
try source.write(toFile: output, atomically: true, encoding: .utf8)
let renewed = renewingFieldTables(in: try String(contentsOfFile: page, encoding: .utf8), of: interfaces)
try renewed.write(toFile: page, atomically: true, encoding: .utf8)
