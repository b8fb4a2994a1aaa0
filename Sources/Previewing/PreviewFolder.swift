import DaemonRuntime
import Glibc
import ServiceProgram
import SystemCalls

/// The preview files, in `state/previews`. They can be made again, so they are not written durably. A file's
/// modification time is the time of its last use.
actor PreviewFolder: QueueActor {
    /// An unfinished preview.
    struct Draft: Sendable {
        fileprivate let path: String
        /// The file that the worker writes.
        let target: Descriptor
    }

    private static let draftSuffix = ".part"

    nonisolated let executor = QueueExecutor("pipelined.previews")
    private let path: String
    /// Maximum bytes of all files together.
    private let most: @Sendable () -> Int64
    /// The total size of all files, counted at the start and then updated. It is too high if somebody has deleted
    /// files. Nil until the first count.
    private var bytes: Int64?

    init(_ path: String, most: @escaping @Sendable () -> Int64) {
        (self.path, self.most) = (path, most)
    }

    // MARK: - From any queue

    /// Removes the drafts that a crash has left behind.
    nonisolated func begin() {
        async { folder in
            for name in folder.names where name.hasSuffix(Self.draftSuffix) { folder.remove(name) }
            folder.tidy()
        }
    }

    /// Applies the size limit again, because the settings may have changed it.
    nonisolated func look() { async { $0.tidy() } }

    nonisolated func find(_ key: PreviewKey, _ done: @escaping Done<Descriptor?>) {
        async { folder in
            let file = folder.file(of: key)
            Coordination.async { done(file) }
        }
    }

    nonisolated func draft(_ done: @escaping Done<Result<Draft, any Error>>) {
        async { folder in
            let draft = Result { try folder.makeDraft() }
            Coordination.async { done(draft) }
        }
    }

    /// Keeps a finished preview in the folder, unless this preview alone exceeds the limit. Opens the preview for
    /// reading in either case.
    nonisolated func keep(_ draft: Draft, as key: PreviewKey, _ done: @escaping Done<Result<Descriptor, any Error>>) {
        async { folder in
            let file = Result { try folder.kept(draft, key) }
            Coordination.async { done(file) }
        }
    }

    nonisolated func drop(_ draft: Draft) { async { $0.remove(FileSystem.name(of: draft.path)) } }

    /// Opens a preview several times, because each reader needs a file position of its own.
    nonisolated func open(_ file: Descriptor, for readers: [@Sendable (Result<Descriptor, any Error>) -> Void]) {
        async { _ in
            for (number, reader) in readers.enumerated() {
                reader(
                    number == 0
                        ? .success(file) : Result { try Descriptor.open("/proc/self/fd/\(file.number)", O_RDONLY) })
            }
        }
    }

    // MARK: - On its queue

    private func file(of key: PreviewKey) -> Descriptor? {
        let path = FileSystem.join(path, key.fileName)
        guard let file = try? Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), Self.isWhole(file) else {
            return nil
        }
        Self.touch(file)
        return file
    }

    /// Checks the WebP header and length, because after a power cut a file may be too short or contain only zeros.
    private static func isWhole(_ file: Descriptor) -> Bool {
        guard let status = try? file.status(), FileStatus(status).kind == .file,
            let head = try? FileSystem.read(file, most: 12, called: "a preview"), head.count == 12
        else { return false }
        let length = head[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        return head.starts(with: "RIFF".utf8) && head[8...].elementsEqual("WEBP".utf8)
            && Int(status.st_size) == length + 8
    }

    /// Sets the modification time explicitly, because the kernel's own timestamps are too coarse to order the uses.
    private static func touch(_ file: Descriptor) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        _ = futimens(file.number, [now, now])
    }

    private func makeDraft() throws -> Draft {
        try FileSystem.makeFolders(path, mode: 0o700)
        let path = FileSystem.join(path, UUIDName.make() + Self.draftSuffix)
        return Draft(path: path, target: try Descriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600))
    }

    private func kept(_ draft: Draft, _ key: PreviewKey) throws -> Descriptor {
        // Removes the draft, unless the rename has given it its final name.
        defer { remove(FileSystem.name(of: draft.path)) }
        let file = try Descriptor.open(draft.path, O_RDONLY)
        let size = Int64(try file.status().st_size)
        guard size <= most() else { return file }
        try FileSystem.rename(draft.path, FileSystem.join(path, key.fileName))
        Self.touch(file)
        bytes = bytes.map { $0 + size }
        if bytes.map({ $0 > most() }) ?? true { tidy() }
        return file
    }

    private var names: [String] { (try? FileSystem.names(in: path)) ?? [] }

    private func remove(_ name: String) { try? FileSystem.remove(FileSystem.join(path, name)) }

    /// Measures the files. If they exceed the limit, removes the least recently used files until an eighth of the limit
    /// is free, so that the folder need not be tidied again soon.
    private func tidy() {
        let most = most()
        let files = names.filter { $0.hasSuffix(PreviewKey.suffix) }.compactMap { name in
            (try? FileSystem.status(FileSystem.join(path, name))).flatMap { $0.map { (name: name, status: $0) } }
        }
        var left = files.reduce(0) { $0 + $1.status.size }
        defer { bytes = left }
        guard left > most else { return }
        let oldest = files.sorted { $0.status.modified < $1.status.modified }
        for (number, file) in oldest.enumerated() {
            // The newest file may need more than seven eighths of the limit, so it is removed only if it alone exceeds
            // the limit.
            let isEnough = number == oldest.count - 1 ? left <= most : left <= most - most / 8
            if isEnough { break }
            remove(file.name)
            left -= file.status.size
        }
    }
}
