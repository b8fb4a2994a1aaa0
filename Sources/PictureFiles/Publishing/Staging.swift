import DaemonRuntime
import Foundation
import Glibc
package import JobLedger
package import PipelineModel
package import SystemCalls
import WorkerPools

/// Where results are made: in their outbox, since a rename must not leave a file system, and there in a folder of this root's own. Another
/// daemon may have the same outbox.
package struct Staging: Sendable {
    package static let folderName = ".staging"

    package let root: String

    /// Reads what this root is called among those that share an outbox; made up at its first start.
    package init(_ places: Places) throws {
        if let known = try Self.read(places.identity) {
            root = known
        } else {
            root = UUIDName.make()
            try FileSystem.write(Array("\(root)\n".utf8), to: places.identity)
        }
    }

    private static func read(_ path: String) throws -> String? {
        guard try FileSystem.exists(path) else { return nil }
        let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty || text.contains("/") ? nil : text
    }

    package func folder(in outbox: String) -> String { "\(outbox)/\(Self.folderName)/\(root)" }

    /// The outbox of a file in staging; nil for one that lies elsewhere.
    package static func outbox(ofFile path: String) -> String? {
        let top = FileSystem.folder(of: FileSystem.folder(of: path))
        return FileSystem.name(of: top) == folderName ? FileSystem.folder(of: top) : nil
    }

    /// Where a picture of a job is made. Each try has a file of its own: what is left of the one before may still be on its way out. A
    /// format that only a worker knows gives no suffix.
    package func path(of job: JobRecord, _ picture: PlannedPicture) -> String {
        let name = "\(job.id)-\(picture.index)" + (job.tries > 0 ? "-\(job.tries)" : "")
        return "\(folder(in: job.order.outbox))/\(name)\(picture.suffix.map { ".\($0)" } ?? "")"
    }

    /// Removes what lies there, which belongs to nobody at the start but for `kept`: what an intent names has been published by then.
    package func sweep(_ outbox: String, except kept: Set<String>) {
        let folder = folder(in: outbox)
        do {
            guard let own = try open(outbox) else { return }
            for name in try FileSystem.names(in: own, called: folder).compactMap(\.self) {
                if !kept.contains(FileSystem.join(folder, name)) { try FileSystem.remove(name, in: own) }
            }
        } catch {
            Log.failure("\(folder) can't be swept: \(error), ignoring")
        }
    }

    /// The folder itself, nil when it is missing. Others who may write in the outbox may have put a link in its place.
    private func open(_ outbox: String) throws -> Descriptor? {
        do {
            let top = try Descriptor.open(outbox, O_RDONLY | O_DIRECTORY)
            return try PrivateFolder.open(Self.folderName, in: top, at: "\(outbox)/\(Self.folderName)").openFolder(root)
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }

    /// Why an outbox may not be written, if so. Whether there is room is another matter.
    package func refusal(of outbox: String) -> SystemError? {
        do {
            try DiskRoom.check(in: folder(in: outbox), written: 0, freeSpace: 1)
            try FileSystem.checkWritable(outbox)
            return nil
        } catch {
            return error.isRefusal ? error : nil
        }
    }
}
