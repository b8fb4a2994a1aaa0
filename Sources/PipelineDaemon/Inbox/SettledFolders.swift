import SystemCalls

/// Which candidates are taken now, and in what order. The files of a folder that is copied into the inbox become quiet one after the
/// other, in whatever order they are copied: they wait for each other a while, and are then taken in the order of their names.
struct SettledFolders {
    /// First come, first taken.
    let due: [FileSystem.Key]

    init(_ candidates: [FileSystem.Key: Candidate], in inbox: String, patience: UInt64, at now: UInt64) {
        var settling: Set<Substring> = []
        var came: [Substring: UInt64] = [:]
        var ripe: [(key: FileSystem.Key, deadline: UInt64, folder: Substring?)] = []
        for (key, candidate) in candidates where candidate.deadline != .max {
            let folder = Self.top(of: key.path, in: inbox)
            if candidate.deadline <= now {
                ripe.append((key, candidate.deadline, folder))
                if let folder { came[folder] = min(came[folder] ?? .max, candidate.deadline) }
            } else if let folder {
                settling.insert(folder)
            }
        }
        ripe.removeAll { file in
            file.folder.map(settling.contains) == true && now - file.deadline < patience
        }
        let order = ripe.map { (key: $0.key, came: $0.folder.flatMap { came[$0] } ?? $0.deadline) }
        due = order.sorted { ($0.came, $0.key.path) < ($1.came, $1.key.path) }.map(\.key)
    }

    /// The folder directly in the inbox that it lies in, if any.
    private static func top(of path: String, in inbox: String) -> Substring? {
        let parts = path.dropFirst(inbox.count + 1).split(separator: "/", maxSplits: 1)
        return parts.count > 1 ? parts[0] : nil
    }
}
