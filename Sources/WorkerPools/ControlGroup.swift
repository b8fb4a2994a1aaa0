import Foundation

/// Reads the limits that control groups set for this process. Groups of versions 1 and 2 may exist at the same time.
struct ControlGroup {
    /// The folder of this process's group, followed by the folders of its ancestors up to the root of the hierarchy.
    let folders: [String]

    /// The process's group in the version 2 hierarchy; nil if the process has none.
    static func unified() -> ControlGroup? { own("cgroup2", having: nil) }

    /// The process's group in the hierarchy of a version 1 controller, such as `memory`.
    static func older(_ controller: String) -> ControlGroup? { own("cgroup", having: controller) }

    /// The contents of a file such as `cpu.max`, in the group and in each of its ancestors.
    func texts(of file: String) -> [String] { folders.compactMap { Self.text("\($0)/\(file)") } }

    /// The contents of two related files, in the group and each ancestor that has both.
    func texts(of first: String, _ second: String) -> [(String, String)] {
        folders.compactMap { folder in
            guard let first = Self.text("\(folder)/\(first)"), let second = Self.text("\(folder)/\(second)") else {
                return nil
            }
            return (first, second)
        }
    }

    private static func own(_ type: String, having controller: String?) -> ControlGroup? {
        guard let groups = text("/proc/self/cgroup"), let mounts = text("/proc/self/mountinfo") else { return nil }
        return ControlGroup(groups: groups, mounts: mounts, type: type, controller: controller)
    }

    /// `groups` is the text of /proc/self/cgroup, with a line `4:memory:/a/b` for each hierarchy. `mounts` is the text
    /// of /proc/self/mountinfo. In a container, a mount may show only a subtree of the hierarchy; `mounts` names the
    /// subtree's root.
    init?(groups: String, mounts: String, type: String, controller: String?) {
        let names = groups.split(separator: "\n").lazy.map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let own = names.first { words in
            guard words.count == 3 else { return false }
            return controller.map { words[1].split(separator: ",").contains($0[...]) }
                ?? (words[0] == "0" && words[1].isEmpty)
        }
        let places = mounts.split(separator: "\n").lazy.compactMap { line -> (root: Substring, folder: Substring)? in
            let halves = line.components(separatedBy: " - ")
            let (words, last) = (line.split(separator: " "), halves.last?.split(separator: " ") ?? [])
            guard halves.count == 2, words.count > 4, last.count == 3, last[0] == type else { return nil }
            guard controller.map({ last[2].split(separator: ",").contains($0[...]) }) ?? true else { return nil }
            return (words[3], words[4])
        }
        guard let own, let place = places.first else { return nil }
        var path = own[2]
        if place.root != "/" { path = path.hasPrefix(place.root) ? path.dropFirst(place.root.count) : "" }
        var folders: [String] = []
        while true {
            while path.hasSuffix("/") { path = path.dropLast() }
            folders.append("\(place.folder)\(path)")
            guard let slash = path.lastIndex(of: "/") else { break }
            path = path[..<slash]
        }
        self.folders = folders
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
