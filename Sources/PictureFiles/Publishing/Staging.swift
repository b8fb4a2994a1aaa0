import Foundation
import Glibc
package import JobModel
package import PipelineModel
import ServiceProgram
package import SystemCalls
import WorkerPools

/// The folders in which results are made. Each is inside its outbox, because a rename must stay on one file system.
/// Each daemon has a folder of its own there, named after the ID of the daemon's root folder, because several daemons
/// may share the outbox.
package struct Staging: Sendable {
    package static let folderName = ".staging"

    package let root: String

    /// Reads the ID of the daemon's root folder, or creates it at the first start. The ID is unique among the daemons
    /// that share an outbox.
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

    /// The outbox of a file in staging; nil for any other file.
    package static func outbox(ofFile path: String) -> String? {
        let top = FileSystem.folder(of: FileSystem.folder(of: path))
        return FileSystem.name(of: top) == folderName ? FileSystem.folder(of: top) : nil
    }

    /// The staging path for a picture of a job. Each attempt has its own path, because the file of the previous attempt
    /// may still exist. If only the worker knows the format, the name has no suffix.
    package func path(of job: JobRecord, _ picture: PlannedPicture) -> String {
        let name = "\(job.id)-\(picture.index)" + (job.tries > 0 ? "-\(job.tries)" : "")
        return "\(folder(in: job.order.outbox))/\(name)\(picture.suffix.map { ".\($0)" } ?? "")"
    }

    /// Removes all files from this daemon's staging folder, except for `kept`: the intermediate pictures and the files
    /// of recorded intents. At startup, no job needs any other file.
    package func sweep(_ outbox: String, except kept: Set<String>) {
        let folder = folder(in: outbox)
        do {
            guard let own = try open(outbox) else { return }
            for name in try FileSystem.names(in: own, called: folder) {
                if !kept.contains(FileSystem.join(folder, name)) { try FileSystem.remove(name, in: own) }
            }
        } catch {
            Log.failure("\(folder) can't be swept: \(error), ignoring")
        }
    }

    /// Opens this daemon's staging folder; returns nil if it is missing. Follows no link, because other users who may
    /// write to the outbox could have put a link in the folder's place.
    private func open(_ outbox: String) throws -> Descriptor? {
        do {
            let top = try Descriptor.open(outbox, O_RDONLY | O_DIRECTORY)
            return try PrivateFolder.open(Self.folderName, in: top, at: "\(outbox)/\(Self.folderName)").openFolder(root)
        } catch let error as SystemError where error.code == ENOENT {
            return nil
        }
    }

    /// Returns the error if the daemon lacks the permission to write to an outbox, otherwise nil. A full disk does not
    /// count.
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
