import Foundation
package import PipelineModel
import SystemCalls

/// The settings that `pipectl … --save` keeps: `state/saved.conf`, read after all other settings.
package enum SavedSettings {
    /// Sets `[Queues] key=limit`, and keeps the other saved limits.
    package static func save(_ limit: QueueLimit, key: String, to path: String) throws {
        let old = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var lines = old.split(separator: "\n").map(String.init).filter { $0.contains("=") && !$0.hasPrefix("\(key)=") }
        lines.append("\(key)=\(limit)")
        let text =
            "# Kept by pipectl --save; read after all other settings.\n[Queues]\n\(lines.sorted().joined(separator: "\n"))\n"
        try FileSystem.write(Array(text.utf8), to: path)
    }
}
