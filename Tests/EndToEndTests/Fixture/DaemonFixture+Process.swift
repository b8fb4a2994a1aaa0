import Foundation
import PipelineControl
import TestTools
import Testing

/// Reads the daemon's state from /proc.
extension DaemonFixture {
    private var descriptors: [Int] { ChildProcess.descriptors(of: process) }

    /// The ledger keeps its writing connection and up to four readers open. They are not counted: the first time that so many clients
    /// read at once may be at any moment.
    var heldDescriptors: Int {
        let files = openFiles
        return files.count - min(11, files.count { $0.contains("/state/ledger.sqlite") })
    }

    /// Dispatch makes so many at its first need, which may be at any moment.
    static let ownDescriptors = 2

    /// The files, sockets and so on behind its descriptors.
    private var openFiles: [String] {
        descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
    }

    /// Asks until all of its workers have said hello. A hello brings a descriptor: the memory of the worker's trail.
    func settledDescriptors() throws -> Int {
        for _ in 0..<20_000 {
            if try status().workers == openFiles.count(where: { $0.hasPrefix("/memfd:") }) { break }
        }
        return heldDescriptors
    }

    /// The number that its next descriptor would get.
    var freeDescriptor: Int { (0...).first { !descriptors.contains($0) } ?? 0 }

    /// Memory in use, in megabytes.
    var resident: Int { (status("VmRSS") ?? -1) / 1024 }

    /// A number of /proc/PID/status.
    private func status(_ name: String) -> Int? {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// Asks for the status until the daemon has no more descriptors than that: it may close some a moment later.
    func expectDescriptors(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let client = try RawClient(self)
        for _ in 0..<20_000 {
            _ = try client.ask("Status")
            // The count leaves out this client.
            if heldDescriptors <= count + 1 + Self.ownDescriptors { return }
        }
        Issue.record("\(heldDescriptors) descriptors, not \(count): \(openFiles)", sourceLocation: location)
    }
}
