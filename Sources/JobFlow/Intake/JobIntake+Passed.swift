import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import Dispatch
import Glibc
import JobLedger
package import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
package import SystemCalls

/// Takes in files that clients pass as open descriptors, so a client can only add files that it can read itself. The
/// daemon copies each file into the spool before it answers the client, and the client keeps its own file.
extension JobIntake {
    /// Makes an unnamed empty file for a client that wants to add a picture of this size.
    package func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, AddingFailure>) -> Void) {
        let (spool, most) = (configuration.places.spool, configuration.settings.control.maxSize)
        let freeSpace = configuration.settings.freeSpace
        guard bytes >= 0 else { return done(.failure(.unfit("bytes=\(bytes) is not allowed; it begins at 0"))) }
        guard bytes <= most else {
            return done(
                .failure(.unfit("a file that is added may have \(most) bytes (MaxSize=); this one has \(bytes)")))
        }
        FileLanes.work(on: spool).async {
            do {
                // The check includes room for the copy that `add` makes later.
                try DiskRoom.check(in: spool, written: bytes, freeSpace: freeSpace)
                done(.success(try Descriptor.unnamed(in: spool)))
            } catch {
                done(.failure(.failed("no file can be made for it: \(error)")))
            }
        }
    }

    /// Copies the file into the spool, and enters a job for the copy. Blocks on the disks of the file and of the spool.
    package nonisolated func add(
        _ file: Descriptor, named name: String, in subfolder: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void
    ) {
        let spool = configuration.places.spool
        let folder = Spool.folder(in: spool)
        let target = FileSystem.join(folder, name)
        let most = configuration.settings.control.maxSize
        let remove = { @Sendable in
            for folder in [folder, Spool.unfinished(folder)] {
                try? FileSystem.remove(FileSystem.join(folder, name))
                FileSystem.removeEmptyFolders(from: folder, upTo: spool)
            }
        }
        do {
            let identity = try Self.copy(file, called: name, to: folder, most: most)
            Coordination.async { [self] in
                var record = newRecord(
                    order: terms.order, path: subfolder.map { FileSystem.join($0, name) } ?? name, source: target,
                    origin: .spooled, file: identity,
                    batch: terms.batch, at: Timestamp.now())
                (record.anyway, record.owner, record.cause) = (terms.anyway, terms.owner, "added by \(terms.peer)")
                if let priority = terms.priority { record.priority = priority.rank }
                enter(record, after: terms.after) { result in
                    if case .failure = result { FileLanes.work(on: spool).async(remove) }
                    done(result)
                }
            }
        } catch {
            remove()
            done(.failure(error as? AddingFailure ?? .failed("'\(name)' can't be copied: \(error)")))
        }
    }

    private func enter(
        _ record: JobRecord, after others: [Int], done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void
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
            // The ledger has recorded the job, even if it can't be read at the moment.
            done(.success((try? ledger.job(record.id)) ?? record))
        }
    }

    /// Makes a complete and durable copy of a regular file. Throws if the file changes meanwhile, or if the descriptor
    /// is not a regular file.
    nonisolated private static func copy(
        _ file: Descriptor, called name: String, to folder: String, most: Int64
    ) throws -> FileStatus.Identity {
        let before = FileStatus(try file.status())
        guard before.kind == .file else { throw AddingFailure.unfit("'\(name)' is not a file that can be copied") }
        guard before.size <= most else {
            throw AddingFailure.unfit(
                "'\(name)' has \(before.size) bytes; a file that is added may have \(most) (MaxSize=)")
        }
        let part = Spool.unfinished(folder)
        let target = FileSystem.join(part, name)
        try FileSystem.makeFolders(part)
        let copy = try Descriptor.open(target, O_RDWR | O_CREAT | O_EXCL)
        try FileSystem.copy(file, to: copy, called: target, most: before.size, durably: false)
        // The copy keeps the picture's date.
        try FileSystem.copyTimes(of: file, to: copy)
        try copy.sync(called: target)
        let after = FileStatus(try file.status())
        guard (after.size, after.modified) == (before.size, before.modified) else {
            throw AddingFailure.failed("'\(name)' was written to while it was copied; add it when it is complete")
        }
        try FileSystem.sync(part)
        try FileSystem.rename(part, folder)
        try FileSystem.sync(FileSystem.folder(of: folder))
        return FileStatus(try copy.status()).identity
    }
}
