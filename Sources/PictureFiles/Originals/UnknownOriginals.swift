package import JobLedger
import SystemCalls

/// Counts files in the archive that belong to no job. Either History= has dropped their jobs, or somebody has put the
/// files there.
package struct UnknownOriginals {
    package let ledger: Ledger
    package let archive: String

    package init(ledger: Ledger, archive: String) {
        (self.ledger, self.archive) = (ledger, archive)
    }

    /// Converts a path in the archive to the ledger's spelling, which begins with the archive's path as configured,
    /// with links unresolved. Returns other paths unchanged.
    package func known(_ path: String) -> String {
        let (real, top) = (FileSystem.resolved(path), FileSystem.resolved(archive))
        guard FileSystem.lies(real, within: top) else { return path }
        return FileSystem.join(archive, FileSystem.relative(real, to: top))
    }

    /// The number of files at or below `path` that belong to no job; 0 for paths outside the archive.
    package func count(at path: String) throws -> Int {
        guard FileSystem.lies(path, within: archive), let there = try FileSystem.status(path) else { return 0 }
        var files: Set<String> = []
        if there.kind == .folder {
            try add(path, below: "", to: &files)
        } else {
            files.insert(FileSystem.name(of: path))
        }
        let folder = there.kind == .folder ? path : FileSystem.folder(of: path)
        try ledger.forEachOriginal(in: folder) { files.remove(String($0.drop { $0 == "/" })) }
        return files.count
    }

    private func add(_ folder: String, below top: String, to files: inout Set<String>) throws {
        for name in try FileSystem.names(in: folder) {
            let path = FileSystem.join(folder, name)
            let relative = top.isEmpty ? name : FileSystem.join(top, name)
            switch try FileSystem.status(path)?.kind {
            case .folder: try add(path, below: relative, to: &files)
            case .file: files.insert(relative)
            case .link, .other, nil: break
            }
        }
    }
}
