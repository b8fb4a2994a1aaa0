import Foundation
import Glibc
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

/// Private copies of the plugins of one generation of workers. Without copies, overwriting a plugin would kill the
/// workers that have mapped it, and would give later workers of the generation a different file.
struct PluginCopies: Sendable {
    /// The folder that contains the copies, from which workers load plugins.
    let folder: String
    /// The path of each original, by the name of its copy.
    private var origins: [String: String] = [:]
    /// Plugins that are left out, with the reasons.
    private var skipped: [SkippedPlugin] = []
    /// Names of plugins whose previous copy stays in use, because the new file failed.
    private var kept: Set<String> = []
    /// Folder of the previous generation, if it still exists.
    private let before: String?

    /// Copies the plugins that pass the trust checks. Each copy's name starts with the index of the original's folder
    /// in `folders`, so that workers load the plugins in the order of these folders.
    init(of folders: [String], in folder: String, before: String?) throws(SystemError) {
        (self.folder, self.before) = (folder, before)
        try FileSystem.makeFolders(folder, mode: 0o700)
        for (index, source) in folders.enumerated() where FileSystem.mayExist(source) {
            let names: [String]
            do {
                names = try FileSystem.names(in: source).filter { $0.hasSuffix(".so") }.sorted()
            } catch {
                skipped.append(SkippedPlugin(file: source, reason: "the folder can't be read: \(error.reason)"))
                continue
            }
            for name in names {
                let origin = FileSystem.join(source, name)
                // The folder of a development build also contains libraries that are not plugins.
                if source == InstalledProgram.folder, !Self.isPlugin(origin) { continue }
                do throws(SystemError) {
                    if let refusal = try add(origin, as: "\(index).\(name)") {
                        skipped.append(SkippedPlugin(file: origin, reason: refusal))
                    }
                } catch {
                    leaveOut(origin, copiedTo: "\(index).\(name)", error)
                }
            }
        }
    }

    private mutating func add(_ origin: String, as name: String) throws(SystemError) -> String? {
        let way = try Trust.way(to: origin)
        if let refusal = way.refusal { return refusal }
        let file = try way.open(O_RDONLY | O_NONBLOCK)
        let status = FileStatus(try file.status())
        guard status.kind == .file else { return "it is a \(status.kind.rawValue)" }
        origins[name] = origin
        guard try !link(name, to: file) else { return nil }
        let copy = try Descriptor.open(FileSystem.join(folder, name), O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
        // Don't sync the copy: a copy that a power cut has damaged differs from its original, so the next start
        // replaces the copy.
        try FileSystem.copy(file, to: copy, called: origin, durably: false)
        return nil
    }

    /// Discards an incomplete copy, which a worker would report as a damaged plugin. Falls back to the previous
    /// generation's copy, if there is one.
    private mutating func leaveOut(_ origin: String, copiedTo name: String, _ error: SystemError) {
        let place = FileSystem.folder(of: folder)
        let reason =
            error.isFull
            ? "the disk of \(place) is full, so it can't be copied; make room there, then `pipectl reload`"
            : "it can't be copied to \(place): \(error)"
        if origins[name] == nil { return skipped.append(SkippedPlugin(file: origin, reason: reason)) }
        _ = refuse(FileSystem.join(folder, name), because: reason)
    }

    /// Creates a hard link to the previous generation's copy if the contents are equal. Returns false if they differ.
    private func link(_ name: String, to file: Descriptor) throws(SystemError) -> Bool {
        guard let before = before.map({ FileSystem.join($0, name) }), let old = try? Descriptor.open(before, O_RDONLY)
        else { return false }
        return try FileSystem.isEqual(file, old) && Glibc.link(before, FileSystem.join(folder, name)) == 0
    }

    private static func isPlugin(_ file: String) -> Bool {
        let bytes = try? Data(contentsOf: URL(fileURLWithPath: file), options: .alwaysMapped)
        return bytes?.range(of: Data("pipeline_filter\0".utf8)) != nil
    }

    // MARK: - Results of a trial

    /// Removes a copy that can't be used. Returns true if the previous generation's copy replaces it; the caller must
    /// then try that copy.
    mutating func refuse(_ copy: String, because reason: String) -> Bool {
        let name = FileSystem.name(of: copy)
        guard let origin = origins[name] else { return false }
        let here = FileSystem.join(folder, name)
        let old = before.map { FileSystem.join($0, name) }
        let isNew = old.map { (try? FileSystem.isSame($0, here)) == false && FileSystem.mayExist($0) } ?? false
        unlink(here)
        let stays = isNew && kept.insert(name).inserted && Glibc.link(old ?? "", here) == 0
        if !stays { origins[name] = nil }
        skipped.removeAll { $0.file == origin }
        skipped.append(
            SkippedPlugin(
                file: origin, reason: named(reason) + (stays ? "; its previous version stays in use" : "")))
        return stays
    }

    /// In a worker's `hello`, replaces the paths of the copies by the paths of the originals, and the list of skipped
    /// plugins by the list in `skipped`.
    func named(_ hello: Hello) -> Hello {
        var hello = hello
        for index in hello.filters.indices {
            hello.filters[index].file = hello.filters[index].file.map { origins[FileSystem.name(of: $0)] ?? $0 }
        }
        hello.skipped = skipped
        return hello
    }

    private func named(_ reason: String) -> String {
        origins.reduce(reason) {
            $0.replacingOccurrences(of: FileSystem.join(folder, $1.key), with: $1.value)
        }
    }
}
