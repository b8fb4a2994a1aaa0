import CLinux
public import Glibc

/// An open file descriptor, closed when the last reference to this object is released.
public final class Descriptor: Sendable {
    public let number: Int32

    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        Glibc.close(number)
    }

    /// `open(2)`, always close-on-exec.
    public static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o644) throws(SystemError) -> Descriptor {
        let number = clinux_open(path, flags, mode)
        guard number >= 0 else { throw SystemError("open", path) }
        return Descriptor(owning: number)
    }

    /// Creates a file without a name, on the file system of a folder.
    public static func unnamed(in folder: String) throws(SystemError) -> Descriptor {
        do {
            return try open(folder, O_TMPFILE | O_RDWR, mode: 0o600)
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.code) else { throw error }
        }
        // The file system does not support unnamed files. So create a named file, and remove its name at once. If
        // another caller has just taken the name, try the next number.
        var number = 0
        while true {
            let path = FileSystem.join(folder, ".unnamed-\(getpid())-\(number)")
            do {
                let file = try open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
                try FileSystem.remove(path)
                return file
            } catch {
                guard error.isTaken else { throw error }
                number += 1
            }
        }
    }

    /// Creates a file in memory that contains `bytes`. Reading begins at the start of the file.
    public static func memory(_ bytes: [UInt8]) throws(SystemError) -> Descriptor {
        let number = clinux_memory_file()
        guard number >= 0 else { throw SystemError("memfd_create", "memory") }
        let file = Descriptor(owning: number)
        guard Glibc.write(number, bytes, bytes.count) == bytes.count, lseek(number, 0, SEEK_SET) == 0 else {
            throw SystemError("write", "memory")
        }
        return file
    }

    /// Opens a file below this folder; fails if any part of `path` is a symbolic link.
    public func open(_ path: String, _ flags: Int32) throws(SystemError) -> Descriptor {
        var number = clinux_open_beneath(self.number, path, flags)
        // ENOSYS: the kernel lacks openat2(2), or systemd's RestrictSUIDSGID= blocks it, because a seccomp filter can't
        // check the flags of openat2.
        if number < 0, errno == ENOSYS { number = Self.walk(path, from: self, flags) }
        guard number >= 0 else { throw SystemError("open", path) }
        return Descriptor(owning: number)
    }

    /// Opens a folder below this one; "" is this folder itself.
    public func openFolder(_ path: String) throws(SystemError) -> Descriptor {
        path.isEmpty ? self : try open(path, O_RDONLY | O_DIRECTORY)
    }

    /// Opens a folder below this one. Creates each missing folder of the path. If `durable` is true, new folders
    /// survive a power cut.
    public func makeFolder(_ path: String, mode: UInt32, durable: Bool = false) throws(SystemError) -> Descriptor {
        do {
            return try openFolder(path)
        } catch {
            guard error.code == ENOENT else { throw error }
        }
        let above = try makeFolder(FileSystem.subfolder(of: path), mode: mode, durable: durable)
        let name = FileSystem.name(of: path)
        guard uninterrupted({ mkdirat(above.number, name, mode) }) == 0 || errno == EEXIST else {
            throw SystemError("mkdir", path)
        }
        if durable { try above.sync(called: path) }
        return try above.open(name, O_RDONLY | O_DIRECTORY)
    }

    /// Used if the kernel refuses `clinux_open_beneath`: opens each folder of the path in turn.
    private static func walk(_ path: String, from top: Descriptor, _ flags: Int32) -> Int32 {
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        var above = top
        for (index, name) in names.enumerated() {
            guard name != ".." else {
                errno = EXDEV
                return -1
            }
            let isLast = index == names.count - 1
            let number = clinux_open_at(above.number, name, (isLast ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW)
            if isLast || number < 0 { return number }
            above = Descriptor(owning: number)
        }
        errno = ENOENT
        return -1
    }

    /// A connected pair of Unix sockets, close-on-exec. `type` is `SOCK_SEQPACKET`, `SOCK_STREAM`, ….
    public static func pair(type: Int32) throws(SystemError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair", "AF_UNIX")
        }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    public func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemError("fstat", "descriptor \(number)") }
        return status
    }

    /// Writes all the bytes.
    public func write(_ bytes: [UInt8], called name: String) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = uninterrupted {
                bytes[written...].withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            }
            guard count >= 0 else { throw SystemError("write", name) }
            written += count
        }
    }

    /// Makes all written data durable, so that it survives a power cut.
    public func sync(called name: String) throws(SystemError) {
        guard uninterrupted({ fsync(number) }) == 0 else { throw SystemError("fsync", name) }
    }

    /// Starts to write the data to the disk, without waiting. A later `sync` waits for the disk, and reports errors.
    public func beginWriting() { _ = clinux_begin_writing(number) }

    public var hasHungUp: Bool {
        var state = pollfd(fd: number, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
    }

    public func setNonblocking() throws(SystemError) {
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemError("fcntl", "descriptor \(number)")
        }
    }
}

// Swift does not import these flags from <fcntl.h>.
private let O_PATH: Int32 = 0o10000000
private let O_TMPFILE: Int32 = 0o20000000 | O_DIRECTORY
