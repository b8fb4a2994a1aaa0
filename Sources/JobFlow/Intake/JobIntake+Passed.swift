import DaemonConfiguration
import DaemonRuntime
import Dispatch
import Glibc
package import JobLedger
import PictureFiles
package import PipelineModel
package import SystemCalls
import WorkerPools

/// Files that clients pass. Each is copied into the spool before the answer, so that nothing is read that the client
/// can't read, and the client's file stays.
extension JobIntake {
    /// A client's wish for a file that it passes.
    package struct Passed: Sendable {
        package var name: String
        /// The folder of the outbox that its results go into.
        package var folder: String?
        package var order: WorkOrder
        package var batch: Int?
        package var after: [Int]
        package var anyway: Bool
        package var priority: Priority?

        package init(
            name: String, folder: String? = nil, order: WorkOrder, batch: Int? = nil, after: [Int], anyway: Bool,
            priority: Priority? = nil
        ) {
            (self.name, self.folder, self.order, self.batch) = (name, folder, order, batch)
            (self.after, self.anyway, self.priority) = (after, anyway, priority)
        }

        package var path: String { folder.map { FileSystem.join($0, name) } ?? name }
    }

    package enum PassedFailure: Error {
        /// No job can be made of the file.
        case unfit(String)
        /// It can't be done now.
        case failed(String)
        /// The job can't come after the others.
        case needs(Ledger.NeedsAnswer, job: Int)
    }

    /// An empty file without a name, for a client that wants to add a picture of so many bytes.
    package func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, PassedFailure>) -> Void) {
        let (spool, most) = (configuration.places.spool, configuration.settings.control.maxSize)
        let freeSpace = configuration.settings.freeSpace
        guard bytes >= 0 else { return done(.failure(.unfit("bytes=\(bytes) is not allowed; it begins at 0"))) }
        guard bytes <= most else {
            return done(
                .failure(.unfit("a file that is added may have \(most) bytes (MaxSize=); this one has \(bytes)")))
        }
        FileLanes.work(on: spool).async {
            do {
                // It is copied when it is added.
                try DiskRoom.check(in: spool, written: bytes, freeSpace: freeSpace)
                done(.success(try Descriptor.unnamed(in: spool)))
            } catch {
                done(.failure(.failed("no file can be made for it: \(error)")))
            }
        }
    }

    /// Copies the file, and waits for its disk.
    package nonisolated func add(
        _ file: Descriptor, _ wish: Passed, done: @escaping @Sendable (Result<JobRecord, PassedFailure>) -> Void
    ) {
        let spool = configuration.places.spool
        let folder = Spool.folder(in: spool)
        let target = FileSystem.join(folder, wish.name)
        let most = configuration.settings.control.maxSize
        let remove = { @Sendable in
            for folder in [folder, Spool.unfinished(folder)] {
                try? FileSystem.remove(FileSystem.join(folder, wish.name))
                FileSystem.removeEmptyFolders(from: folder, upTo: spool)
            }
        }
        do {
            let identity = try Self.copy(file, called: wish.name, to: folder, most: most)
            Coordination.async { [self] in
                var record = newRecord(
                    order: wish.order, path: wish.path, source: target, origin: .spooled, file: identity,
                    batch: wish.batch, at: Timestamp.now())
                record.anyway = wish.anyway
                if let priority = wish.priority { record.priority = priority.rank }
                enter(record, after: wish.after) { result in
                    if case .failure = result { FileLanes.work(on: spool).async(remove) }
                    done(result)
                }
            }
        } catch {
            remove()
            done(.failure(error as? PassedFailure ?? .failed("'\(wish.name)' can't be copied: \(error)")))
        }
    }

    private func enter(
        _ record: JobRecord, after others: [Int], done: @escaping @Sendable (Result<JobRecord, PassedFailure>) -> Void
    ) {
        guard !others.isEmpty else {
            return enter([record], isAsked: true) {
                done(.success(record))
            } refused: {
                done(.failure(.failed("the ledger refuses '\(record.path)'; see the daemon's log")))
            }
        }
        enter([record], after: others) { [ledger] answer in
            guard case .done = answer else { return done(.failure(.needs(answer, job: record.id))) }
            // The job is recorded, even if the ledger can't be read now.
            done(.success((try? ledger.job(record.id)) ?? record))
        }
    }

    /// A whole copy of a whole file, durable. Whatever else the descriptor may be, it is not read.
    nonisolated private static func copy(
        _ file: Descriptor, called name: String, to folder: String, most: Int64
    ) throws -> FileStatus.Identity {
        let before = FileStatus(try file.status())
        guard before.kind == .file else { throw PassedFailure.unfit("'\(name)' is no file that can be copied") }
        guard before.size <= most else {
            throw PassedFailure.unfit(
                "'\(name)' has \(before.size) bytes; a file that is added may have \(most) (MaxSize=)")
        }
        let part = Spool.unfinished(folder)
        let target = FileSystem.join(part, name)
        try FileSystem.makeFolders(part)
        let copy = try Descriptor.open(target, O_RDWR | O_CREAT | O_EXCL)
        try FileSystem.copy(file, to: copy, called: target, most: before.size, durably: false)
        // The time of the copying is no date of the picture.
        try FileSystem.copyTimes(of: file, to: copy)
        try copy.sync(called: target)
        let after = FileStatus(try file.status())
        guard (after.size, after.modified) == (before.size, before.modified) else {
            throw PassedFailure.failed("'\(name)' was written to while it was copied; add it when it is whole")
        }
        try FileSystem.sync(part)
        try FileSystem.rename(part, folder)
        try FileSystem.sync(FileSystem.folder(of: folder))
        return FileStatus(try copy.status()).identity
    }
}
