import Glibc
import PipelineModel
import SystemCalls
import WorkerPools

/// A staging file that is being synced. To write several files to the disk together, create a `StagingSync` for each
/// file before the first call of `finish`.
struct StagingSync {
    private let file: ImageHandle.Staged
    private let opened: Result<Descriptor, SystemError>

    /// Starts writing the file to the disk, without waiting.
    init(_ file: ImageHandle.Staged) {
        self.file = file
        do throws(SystemError) {
            let descriptor = try Descriptor.open(file.path, O_RDONLY | O_NOFOLLOW)
            descriptor.beginWriting()
            opened = .success(descriptor)
        } catch {
            opened = .failure(error)
        }
    }

    /// Syncs the file, and checks that it has the size that the worker reported. The file is durable once its folder is
    /// synced, too.
    func finish() throws {
        let descriptor = try opened.get()
        try descriptor.sync(called: file.path)
        guard let made = file.result else { return }
        let status = FileStatus(try descriptor.status())
        guard status.kind == .file, status.size == made.bytes else {
            throw JobFailure(
                "the result is not as the worker reported it: \(file.path) has \(status.size) bytes, not \(made.bytes)",
                advice: "look at the disk of the outbox, and for who else writes there; then `pipectl retry`")
        }
    }
}
