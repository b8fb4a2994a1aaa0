import SystemCalls

/// Files that nobody looks at yet, because enough others settle: a folder of a million pictures costs the memory of its names.
struct FilesAside {
    private struct Names {
        /// The folder right below the inbox.
        let top: FileSystem.Key?
        /// The names of all files that were put aside, in the order of taking; `left` says which files still are.
        var names: [String] = []
        /// The place of the next one.
        var next = 0
        /// The names of the files that are aside.
        var left: Set<FileSystem.Key> = []
        /// The names of the files that become cancelled jobs.
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
    /// In the order in which they were found.
    private var order: [FileSystem.Key] = []
    private(set) var count = 0

    func names(in folder: FileSystem.Key) -> Set<FileSystem.Key> { folders[folder]?.left ?? [] }

    mutating func put(_ name: String, in folder: FileSystem.Key, top: FileSystem.Key?) {
        if folders[folder] == nil { order.append(folder) }
        guard folders[folder, default: Names(top: top)].left.insert(FileSystem.Key(name)).inserted else { return }
        folders[folder]?.names.append(name)
        count += 1
    }

    /// The path of the next file, which is aside no more.
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

    // MARK: - Ends

    /// Those below this folder right below the inbox, or all, become cancelled jobs. Returns how many more these are now.
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

    /// The file is gone, or somebody looks at it: another of its name is not cancelled.
    mutating func forget(_ path: FileSystem.Key) {
        guard count > 0 else { return }
        let folder = FileSystem.Key(FileSystem.folder(of: path.path))
        let name = FileSystem.Key(FileSystem.name(of: path.path))
        guard folders[folder]?.left.remove(name) != nil else { return }
        folders[folder]?.cancelled.remove(name)
        count -= 1
    }

    /// A folder is gone with all that is in it.
    mutating func drop(within folder: String) {
        for key in order where FileSystem.lies(key.path, within: folder) {
            count -= folders.removeValue(forKey: key)?.left.count ?? 0
        }
        order.removeAll { folders[$0] == nil }
    }

    /// The paths of those that are to become cancelled jobs.
    var marks: [FileSystem.Key] {
        folders.flatMap { folder, names in
            names.cancelled.map { FileSystem.Key(FileSystem.join(folder.path, $0.path)) }
        }
    }
}
