import Foundation
import PipelineControl
import Testing

/// What /proc tells of the daemon.
extension DaemonFixture {
    private var descriptors: [Int] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []).compactMap { Int($0) }
    }

    var heldDescriptors: Int { descriptors.count }

    /// Asks until all of its workers have said hello, with which comes one more of each: the memory that they write their trail to.
    func settledDescriptors() throws -> Int {
        for _ in 0..<20_000 {
            let trails = descriptors.count {
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
                return link?.hasPrefix("/memfd:") == true
            }
            if try status().workers == trails { break }
        }
        return heldDescriptors
    }

    /// The one that it would get next.
    var freeDescriptor: Int { (0...).first { !descriptors.contains($0) } ?? 0 }

    /// Memory in use, in megabytes.
    var resident: Int { (status("VmRSS") ?? -1) / 1024 }

    /// The process that traces it.
    var tracer: Int32? { status("TracerPid").map(Int32.init) }

    /// A number of /proc/PID/status.
    private func status(_ name: String) -> Int? {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// Asks for the status until the daemon has no more descriptors than that: what it closes, it closes soon.
    func expectDescriptors(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let client = try RawClient(self)
        for _ in 0..<20_000 {
            _ = try client.ask("Status")
            // Not counted: this client, and what Dispatch makes when it first needs it.
            if heldDescriptors <= count + 3 { return }
        }
        Issue.record("\(heldDescriptors) descriptors, not \(count)", sourceLocation: location)
    }
}
