import Foundation

/// Reads what the control groups (v2) of this process allow it.
enum ControlGroup {
    /// The contents of a file such as `cpu.max` in this process's group and in each group above it.
    static func texts(of file: String) -> [String] {
        guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else { return [] }
        var path = line.dropFirst(3)
        var texts: [String] = []
        while true {
            let place = "/sys/fs/cgroup\(path == "/" ? "" : path)/\(file)"
            if let text = try? String(contentsOfFile: place, encoding: .utf8) { texts.append(text) }
            guard let slash = path.lastIndex(of: "/"), path != "/" else { return texts }
            path = slash == path.startIndex ? "/" : path[..<slash]
        }
    }
}
