import Foundation
import PipelineControl
import TestTools
import Testing

/// Reads the daemon's state from /proc.
extension DaemonFixture {
    private var descriptors: [Int] { ChildProcess.descriptors(of: process) }

    /// The number of the daemon's descriptors, without the ledger's. The ledger has one connection that writes, and up
    /// to four that read. It opens another connection when more clients read at the same time than ever before.
    var heldDescriptors: Int {
        let files = openFiles
        return files.count - min(11, files.count { $0.contains("/state/ledger.sqlite") })
    }

    /// The number of descriptors that Dispatch opens when it first needs them, which may be at any moment.
    static let ownDescriptors = 2

    /// The files, sockets and other objects that the daemon's descriptors refer to.
    private var openFiles: [String] {
        descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
    }

    /// Requests the status until all workers have said hello; returns `heldDescriptors`. For each worker that has said
    /// hello, the daemon keeps a descriptor of the shared memory with that worker's trail.
    func settledDescriptors() throws -> Int {
        for _ in 0..<20_000 {
            if try status().workers == openFiles.count(where: { $0.hasPrefix("/memfd:") }) { break }
        }
        return heldDescriptors
    }

    /// The number that the daemon's next descriptor would get.
    var freeDescriptor: Int { (0...).first { !descriptors.contains($0) } ?? 0 }

    /// Memory in use, in megabytes.
    var resident: Int { (status("VmRSS") ?? -1) / 1024 }
    /// The most memory that the daemon has used, in MB.
    var peak: Int { (status("VmHWM") ?? -1) / 1024 }

    /// Returns a number from /proc/PID/status.
    private func status(_ name: String) -> Int? {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// Requests the status until the daemon has at most `count` descriptors. The daemon may close some of them a moment
    /// late.
    func expectDescriptors(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let client = try RawClient(self)
        for _ in 0..<20_000 {
            _ = try client.ask("Status")
            // `count` does not include this method's own client.
            if heldDescriptors <= count + 1 + Self.ownDescriptors { return }
        }
        Issue.record("\(heldDescriptors) descriptors, not \(count): \(openFiles)", sourceLocation: location)
    }
}
