import SystemCalls

/// Files that are deferred because enough other files are settling. A deferred file costs only the memory of its name,
/// so that a folder may contain a million pictures.
struct DeferredFiles {
    private struct Names {
        /// The top-level folder of these files, directly below the inbox; nil if the files are in the inbox itself.
        let top: FileSystem.Key?
        /// Names of all files deferred so far, in the order in which they are taken. `left` contains the names of files
        /// that are still deferred.
        var names: [String] = []
        /// Index of the next name to take.
        var next = 0
        /// Names of the files still deferred.
        var left: Set<FileSystem.Key> = []
        /// Names of the deferred files that will become cancelled jobs.
        var cancelled: Set<FileSystem.Key> = []

        mutating func takeNext() -> (name: String, isCancelled: Bool)? {
            while next < names.count {
                defer { next += 1 }
                let key = FileSystem.Key(names[next])
                if left.remove(key) != nil { return (names[next], cancelled.remove(key) != nil) }
            }
            return nil
        }
    }

    private var folders: [FileSystem.Key: Names] = [:]
    /// Folders with deferred files, in the order in which they were found.
    private var order: [FileSystem.Key] = []
    private(set) var count = 0

    func names(in folder: FileSystem.Key) -> Set<FileSystem.Key> { folders[folder]?.left ?? [] }

    mutating func put(_ name: String, in folder: FileSystem.Key, top: FileSystem.Key?) {
        if folders[folder] == nil { order.append(folder) }
        guard folders[folder, default: Names(top: top)].left.insert(FileSystem.Key(name)).inserted else { return }
        folders[folder]?.names.append(name)
        count += 1
    }

    /// Removes and returns the next deferred file.
    mutating func next() -> (path: String, isCancelled: Bool)? {
        while let folder = order.first {
            if let next = folders[folder]?.takeNext() {
                count -= 1
                return (FileSystem.join(folder.path, next.name), next.isCancelled)
            }
            folders[folder] = nil
            order.removeFirst()
        }
        return nil
    }

    func isIn(top: FileSystem.Key) -> Bool { folders.values.contains { $0.top == top && !$0.left.isEmpty } }

    // MARK: - Cancelling and removing

    /// Marks the deferred files below `top` as cancelled, or all if `top` is nil. Returns the number of newly marked
    /// files.
    mutating func cancel(below top: FileSystem.Key?) -> Int {
        var more = 0
        for folder in order where top == nil || folders[folder]?.top == top {
            guard let names = folders[folder] else { continue }
            more += names.left.count - names.cancelled.count
            folders[folder]?.cancelled = names.left
        }
        return more
    }

    func isCancelled(_ path: FileSystem.Key) -> Bool {
        guard count > 0, let names = folders[FileSystem.Key(FileSystem.folder(of: path.path))] else { return false }
        return names.cancelled.contains(FileSystem.Key(FileSystem.name(of: path.path)))
    }

    /// Removes a file that no longer exists or is no longer deferred. A new file of the same name is not cancelled.
    mutating func forget(_ path: FileSystem.Key) {
        guard count > 0 else { return }
        let folder = FileSystem.Key(FileSystem.folder(of: path.path))
        let name = FileSystem.Key(FileSystem.name(of: path.path))
        guard folders[folder]?.left.remove(name) != nil else { return }
        folders[folder]?.cancelled.remove(name)
        count -= 1
    }

    /// Removes all files below a folder that no longer exists.
    mutating func drop(within folder: String) {
        for key in order where FileSystem.lies(key.path, within: folder) {
            count -= folders.removeValue(forKey: key)?.left.count ?? 0
        }
        order.removeAll { folders[$0] == nil }
    }

    /// Paths of the deferred files that will become cancelled jobs.
    var marks: [FileSystem.Key] {
        folders.flatMap { folder, names in
            names.cancelled.map { FileSystem.Key(FileSystem.join(folder.path, $0.path)) }
        }
    }
}
