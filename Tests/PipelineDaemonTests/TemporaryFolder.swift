import Foundation

/// A folder that is there while `body` runs.
func withTemporaryFolder<Result>(below parent: String = NSTemporaryDirectory(), _ body: (String) throws -> Result)
    throws -> Result
{
    let folder = "\(parent)/pipelined-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = "\(NSTemporaryDirectory())/pipelined-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
