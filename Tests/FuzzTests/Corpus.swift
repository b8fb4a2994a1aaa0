import Foundation

/// Inputs that reach most of the readers' code. Each reader has a file, with one base64 input per line.
enum Corpus {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")

    static func inputs(of target: FuzzTarget) throws -> [[UInt8]] {
        let file = folder.appendingPathComponent("\(target.name).base64")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            guard let input = Data(base64Encoded: String(line)) else {
                throw NoInput(file: file.path, line: String(line))
            }
            return Array(input)
        }
    }

    private struct NoInput: Error {
        var file: String
        var line: String
    }
}
