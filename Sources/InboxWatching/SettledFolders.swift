import SystemCalls

/// Chooses the candidates to take now, and their order. The files of a copied folder become quiet in the order of the
/// copying: they wait for each other a while, and are taken in the order of their names.
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

    /// The top-level folder of the inbox that holds the file, or nil.
    private static func top(of path: String, in inbox: String) -> Substring? {
        let parts = path.dropFirst(inbox.count + 1).split(separator: "/", maxSplits: 1)
        return parts.count > 1 ? parts[0] : nil
    }
}
