import CLinux
public import Glibc

/// The fields of `lstat` that the project uses.
public struct FileStatus: Sendable, Hashable {
    public enum Kind: String, Sendable {
        case file, folder
        case link = "symbolic link"
        case other = "special file"
    }

    public let kind: Kind
    public let device: UInt64
    public let inode: UInt64
    public let size: Int64
    /// Nanoseconds since 1970.
    public let modified: Int64
    public let changed: Int64
    public let mode: UInt32
    public let owner: UInt32
    public let group: UInt32

    public init(_ raw: stat) {
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        device = UInt64(raw.st_dev)
        inode = UInt64(raw.st_ino)
        size = Int64(raw.st_size)
        modified = Int64(raw.st_mtim.tv_sec) * 1_000_000_000 + Int64(raw.st_mtim.tv_nsec)
        changed = Int64(raw.st_ctim.tv_sec) * 1_000_000_000 + Int64(raw.st_ctim.tv_nsec)
        mode = UInt32(raw.st_mode)
        owner = UInt32(raw.st_uid)
        group = UInt32(raw.st_gid)
    }
}

/// System calls on paths. Each error names the call and the path.
public enum FileSystem {
    /// The status of the file at `path`, or of the link itself if it is a symbolic link. Nil if the file does not
    /// exist, or if a parent in `path` is not a folder. `path` may be relative to an open folder.
    public static func status(_ path: String, in folder: Descriptor? = nil) throws(SystemError) -> FileStatus? {
        var raw = stat()
        if fstatat(place(folder), path, &raw, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(raw) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw SystemError("lstat", path)
    }

    /// Whether a file of any kind exists at `path`. Throws if that can't be determined.
    public static func exists(_ path: String) throws(SystemError) -> Bool { try status(path) != nil }

    /// False only if no file exists at `path`; true if that can't be determined. Callers read the file next, and that
    /// read reports the error.
    public static func mayExist(_ path: String) -> Bool { (try? exists(path)) ?? true }

    /// Whether `path` is a folder, or a symbolic link to a folder.
    public static func isFolder(_ path: String) -> Bool {
        var raw = stat()
        return stat(path, &raw) == 0 && raw.st_mode & S_IFMT == S_IFDIR
    }

    /// Creates the folder and the missing folders above it. If `durable` is true, the new folders survive a power cut.
    public static func makeFolders(_ path: String, mode: UInt32 = 0o755, durable: Bool = false) throws(SystemError) {
        var made = uninterrupted { mkdir(path, mode) } == 0
        if !made, errno == ENOENT {
            let above = folder(of: path)
            guard above != path else { throw SystemError("mkdir", path) }
            try makeFolders(above, mode: mode, durable: durable)
            made = uninterrupted { mkdir(path, mode) } == 0
        }
        guard made || errno == EEXIST else { throw SystemError("mkdir", path) }
        if made, durable { try sync(folder(of: path)) }
    }

    /// Restricts the permissions of a file or folder to those in `mode`, if it exists and belongs to the caller.
    public static func keepPrivate(_ path: String, mode: UInt32) throws(SystemError) {
        guard let status = try status(path), status.owner == geteuid(), status.mode & 0o777 & ~mode != 0 else { return }
        guard uninterrupted({ chmod(path, status.mode & mode) }) == 0 else { throw SystemError("chmod", path) }
    }

    static func place(_ folder: Descriptor?) -> Int32 { folder?.number ?? AT_FDCWD }

    /// Renames a file, and replaces the target if it exists. Both paths may be relative to open folders.
    public static func rename(
        _ from: String, in folder: Descriptor? = nil, _ to: String, in target: Descriptor? = nil
    ) throws(SystemError) {
        guard uninterrupted({ renameat(place(folder), from, place(target), to) }) == 0 else {
            throw SystemError("rename", to)
        }
    }

    /// Removes a file, if it exists. `path` may be relative to an open folder.
    public static func remove(_ path: String, in folder: Descriptor? = nil) throws(SystemError) {
        guard uninterrupted({ unlinkat(place(folder), path, 0) }) == 0 || errno == ENOENT else {
            throw SystemError("unlink", path)
        }
    }

    /// Fails with `ENOSPC` or `EDQUOT` if the folder's disk has no room for a file of this size. Leaves no file behind.
    public static func checkRoom(for bytes: Int64, in folder: String) throws(SystemError) {
        let file = try Descriptor.unnamed(in: folder)
        let answer = posix_fallocate(file.number, 0, off_t(bytes))
        guard answer == 0 else { throw SystemError("fallocate", folder, code: answer) }
    }

    /// Throws if this process lacks the permission to create files in a folder.
    public static func checkWritable(_ folder: String) throws(SystemError) {
        guard faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else { throw SystemError("write to", folder) }
    }

    /// Removes `folder` and then the folders above it, as long as they are empty. Never removes `top`.
    public static func removeEmptyFolders(from folder: String, upTo top: String) {
        var path = folder
        while path != top, lies(path, within: top), rmdir(path) == 0 { path = Self.folder(of: path) }
    }

    /// Makes a file's data durable. For a folder, makes all changes to its entries durable, such as renames.
    public static func sync(_ path: String) throws(SystemError) {
        try Descriptor.open(path, O_RDONLY).sync(called: path)
    }

    /// Writes a small file atomically, and makes it durable. A failed write leaves no temporary file behind. If
    /// `replaces` is false, an existing file is an error.
    public static func write(
        _ bytes: some Collection<UInt8>, to path: String, mode: UInt32 = 0o644, replaces: Bool = true
    ) throws(SystemError) {
        let temporary = path + ".new"
        let file = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
        do throws(SystemError) {
            try file.write(Array(bytes), called: temporary)
            try file.sync(called: temporary)
            if replaces { try rename(temporary, path) } else { try renameWithoutReplacing(temporary, path) }
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync(folder(of: path))
    }

    /// Copies at most `most` bytes from the start of one file to another, and makes the copy durable unless `durably`
    /// is false.
    public static func copy(
        _ from: Descriptor, to: Descriptor, called name: String, most: Int64 = .max, durably: Bool = true
    ) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var offset: off_t = 0
        while true {
            let room = Int(min(Int64(buffer.count), most - Int64(offset)))
            let got = uninterrupted { pread(from.number, &buffer, room, offset) }
            guard got >= 0 else { throw SystemError("read", name) }
            if got == 0 { break }
            offset += off_t(got)
            var written = 0
            while written < got {
                let count = uninterrupted {
                    buffer[written..<got].withUnsafeBytes { Glibc.write(to.number, $0.baseAddress, $0.count) }
                }
                guard count >= 0 else { throw SystemError("write", name) }
                written += count
            }
        }
        if durably { try to.sync(called: name) }
    }

    /// Gives a copy the times of its source.
    public static func copyTimes(of source: Descriptor, to copy: Descriptor) throws(SystemError) {
        let status = try source.status()
        guard futimens(copy.number, [status.st_atim, status.st_mtim]) == 0 else {
            throw SystemError("futimens", "a copy")
        }
    }

    /// Gives a copy the times and the mode of its source.
    public static func copyMarks(of source: Descriptor, to copy: Descriptor) throws(SystemError) {
        try copyTimes(of: source, to: copy)
        fchmod(copy.number, try source.status().st_mode & 0o777)
    }

    /// Reads at most `most` bytes from the start of a file.
    public static func read(_ file: Descriptor, most: Int, called name: String) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < most {
            let wanted = min(room.count, most - bytes.count)
            let got = uninterrupted { pread(file.number, &room, wanted, off_t(bytes.count)) }
            guard got >= 0 else { throw SystemError("read", name) }
            if got == 0 { break }
            bytes += room[..<got]
        }
        return bytes
    }

    public static func isEqual(_ one: Descriptor, _ other: Descriptor) throws(SystemError) -> Bool {
        var first = [UInt8](repeating: 0, count: 256 * 1024)
        var second = first
        var offset: off_t = 0
        while true {
            let got = pread(one.number, &first, first.count, offset)
            guard got >= 0 else { throw SystemError("read", "descriptor \(one.number)") }
            guard pread(other.number, &second, second.count, offset) == got, first[..<got] == second[..<got] else {
                return false
            }
            if got == 0 { return true }
            offset += off_t(got)
        }
    }

    /// Whether the file at `path` is a copy of `source`, with the same modification time and the same bytes. `path` may
    /// be relative to an open folder.
    public static func isCopy(
        _ path: String, in folder: Descriptor? = nil, of source: Descriptor
    ) throws(SystemError) -> Bool {
        guard let there = try status(path, in: folder), there.kind == .file else { return false }
        let original = FileStatus(try source.status())
        guard (there.size, there.modified) == (original.size, original.modified) else { return false }
        let filePlace = folder.map { FilePlace($0, path) } ?? FilePlace(path)
        return try isEqual(source, try filePlace.open(O_RDONLY))
    }

    /// Whether any process has the file open for writing. Nil if the kernel can't tell, for example for another user's
    /// file or on some file systems.
    public static func isOpenForWriting(_ file: Descriptor) -> Bool? {
        switch clinux_open_for_writing(file.number) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// The names in a folder, without `.` and `..`. A `String` can't store a name that is not UTF-8. So `misnamed`
    /// receives each such name, with an escape such as `\xff` for each invalid byte.
    public static func names(
        in folder: String, misnamed: (_ escaped: String) -> Void = { _ in }
    ) throws(SystemError) -> [String] {
        guard let handle = opendir(folder) else { throw SystemError("opendir", folder) }
        return try names(handle, called: folder, misnamed)
    }

    public static func names(
        in folder: Descriptor, called name: String, misnamed: (_ escaped: String) -> Void = { _ in }
    ) throws(SystemError) -> [String] {
        // Use a second descriptor, because reading the names moves a descriptor's position, and `closedir` closes the
        // descriptor.
        let again = clinux_open_at(folder.number, ".", O_RDONLY | O_DIRECTORY)
        guard again >= 0 else { throw SystemError("opendir", name) }
        guard let handle = fdopendir(again) else {
            defer { close(again) }
            throw SystemError("opendir", name)
        }
        return try names(handle, called: name, misnamed)
    }

    private static func names(
        _ handle: OpaquePointer, called name: String, _ misnamed: (_ escaped: String) -> Void
    ) throws(SystemError) -> [String] {
        defer { closedir(handle) }
        var names: [String] = []
        while true {
            // `readdir` returns nil both at the end of the folder and after an error; only errno distinguishes them.
            errno = 0
            guard let entry = readdir(handle) else {
                guard errno == 0 else { throw SystemError("readdir", name) }
                return names
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self) else {
                misnamed(bytes.escaped)
                continue
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// The target of a symbolic link. A relative target is joined to the link's folder. Nil if the file is not a link.
    public static func target(of link: String) throws(SystemError) -> String? {
        guard try status(link)?.kind == .link else { return nil }
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &room, room.count)
        guard count >= 0 else { throw SystemError("readlink", link) }
        return join(folder(of: link), String(decoding: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The path with its links resolved. If the path is missing, resolves the part of the path that exists.
    public static func resolved(_ path: String) -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        let above = folder(of: path)
        return above == path ? path : join(resolved(above), name(of: path))
    }

}
