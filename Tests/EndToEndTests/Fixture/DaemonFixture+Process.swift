import Foundation
import Testing

/// What /proc tells of the daemon.
extension DaemonFixture {
    var heldDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? -1
    }

    /// Memory in use, in megabytes.
    var resident: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? -1) / 1024
    }

    /// Asks for the status until the daemon has no more descriptors than that: what it closes, it closes soon.
    func expectDescriptors(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let client = try RawClient(self)
        for _ in 0..<20_000 {
            _ = try client.ask("Status")
            if heldDescriptors - 1 <= count { return }
        }
        Issue.record("\(heldDescriptors - 1) descriptors, not \(count)", sourceLocation: location)
    }
}
