import SystemCalls

/// Files that nobody looks at yet, because enough others settle: a folder of a million pictures costs the memory of its names.
struct FilesAside {
    private struct Names {
        /// The folder right below the inbox.
        let top: FileSystem.Key?
        /// In the order in which they are to be taken.
        var names: [String] = []
        /// The place of the next one.
        var next = 0
        /// The names of files that are to become cancelled jobs.
        var cancelled: Set<FileSystem.Key> = []

        var left: ArraySlice<String> { names[next...] }
    }

    private var folders: [FileSystem.Key: Names] = [:]
    /// In the order in which they were found.
    private var order: [FileSystem.Key] = []
    private(set) var count = 0

    func names(in folder: FileSystem.Key) -> Set<FileSystem.Key> {
        Set(folders[folder]?.left.map(FileSystem.Key.init) ?? [])
    }

    mutating func put(_ name: String, in folder: FileSystem.Key, top: FileSystem.Key?) {
        if folders[folder] == nil { order.append(folder) }
        folders[folder, default: Names(top: top)].names.append(name)
        count += 1
    }

    /// The path of the next file.
    mutating func next() -> (path: String, isCancelled: Bool)? {
        guard let folder = order.first, var names = folders.removeValue(forKey: folder) else { return nil }
        let name = names.names[names.next]
        names.next += 1
        count -= 1
        if names.left.isEmpty { order.removeFirst() } else { folders[folder] = names }
        return (FileSystem.join(folder.path, name), names.cancelled.contains(FileSystem.Key(name)))
    }

    func isIn(top: FileSystem.Key) -> Bool { folders.values.contains { $0.top == top } }

    // MARK: - Ends

    /// Those below this folder right below the inbox, or all, become cancelled jobs. Returns how many more these are now.
    mutating func cancel(below top: FileSystem.Key?) -> Int {
        var more = 0
        for folder in order where top == nil || folders[folder]?.top == top {
            guard var names = folders.removeValue(forKey: folder) else { continue }
            let former = names.cancelled.count
            names.cancelled.formUnion(names.left.map(FileSystem.Key.init))
            more += names.cancelled.count - former
            folders[folder] = names
        }
        return more
    }

    func isCancelled(_ path: FileSystem.Key) -> Bool {
        guard count > 0, let names = folders[FileSystem.Key(FileSystem.folder(of: path.path))] else { return false }
        return names.cancelled.contains(FileSystem.Key(FileSystem.name(of: path.path)))
    }

    /// The file is gone: another of its name is not cancelled.
    mutating func forget(_ path: FileSystem.Key) {
        guard isCancelled(path) else { return }
        folders[FileSystem.Key(FileSystem.folder(of: path.path))]?.cancelled
            .remove(FileSystem.Key(FileSystem.name(of: path.path)))
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
