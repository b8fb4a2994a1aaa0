public import Foundation

/// Runs `body` with a folder that is removed afterwards.
public func withTemporaryFolder<Result>(
    below parent: String = NSTemporaryDirectory(), _ body: (String) throws -> Result
)
    throws -> Result
{
    let folder = try makeTemporaryFolder(below: parent)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

public func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = try makeTemporaryFolder(below: NSTemporaryDirectory())
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

private func makeTemporaryFolder(below parent: String) throws -> String {
    let folder = "\(parent)/pipelined-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
}
