import Glibc
import PipelineControl
import SystemCalls

/// Chooses the paths for the results of `pipectl try`: the file given by `--output`, or names that contain `.try`, so
/// that nobody mistakes a result for another picture.
struct TriedFiles {
    private let output: String?
    /// Whether `--output` names a file, for a single result.
    private let isFile: Bool
    private var taken: Set<String> = []

    init(output: String?) {
        self.output = output
        isFile = output.map { !$0.hasSuffix("/") && !FileSystem.isFolder($0) } ?? false
    }

    /// The suffix of the file that `--output` names, in lower case.
    var suffix: String? { isFile ? output.map { Self.split($0).suffix.lowercased() } : nil }

    /// Writes a result as `STEM.try.LABEL.SUFFIX` or to the named file, and returns its path. An existing file is
    /// replaced once the new file is complete.
    mutating func write(
        _ file: Descriptor, of input: String, label: String?, suffix: String, never source: Descriptor
    ) throws -> String {
        let path = place(of: input, label, suffix)
        let status = try source.status()
        if let there = try FileSystem.status(path),
            there.identity.inode == Int(status.st_ino), there.identity.device == Int(status.st_dev)
        {
            throw Failure("CannotWrite", "\(path) is the picture itself; name another file", .failed)
        }
        try WholeFile.write(file, to: path, replacing: true)
        return path
    }

    /// Checks, before anything is rendered, that the folder for the results exists and is writable; throws if not.
    func checkPlace() throws(Failure) {
        let folder = isFile ? FileSystem.folder(of: output ?? "") : output ?? "."
        guard FileSystem.isFolder(folder) else {
            throw Failure("CannotWrite", "\(folder): there is no such folder; make it, or name another", .failed)
        }
        do throws(SystemError) {
            try FileSystem.checkWritable(folder)
        } catch {
            throw Failure("CannotWrite", "\(folder): \(error.reason); name another folder with --output", .failed)
        }
    }

    /// Throws if several results would go into one file.
    func checkRoom(for results: Int) throws(Failure) {
        guard isFile, results > 1, let output else { return }
        throw .usage("there are several results, and --output \(output) is one file; name a folder")
    }

    private mutating func place(of input: String, _ label: String?, _ suffix: String) -> String {
        if isFile, let output { return output.contains("/") ? output : "./\(output)" }
        let stem = Self.split(FileSystem.name(of: input)).stem
        for number in 0... {
            let end = ((number == 0 ? [] : ["\(number)"]) + ["try"] + [label, suffix].compactMap(\.self))
                .joined(separator: ".")
            let name = "\(Self.shortened(stem, to: Self.longestName - end.utf8.count - 1)).\(end)"
            let path = FileSystem.join(output ?? ".", name)
            if taken.insert(path).inserted { return path }
        }
        return ""
    }

    /// The longest name, in bytes, that all common file systems allow.
    private static let longestName = 255

    private static func shortened(_ stem: String, to bytes: Int) -> String {
        var stem = stem
        while stem.utf8.count > max(1, bytes), stem.count > 1 { stem.removeLast() }
        return stem
    }

    private static func split(_ path: String) -> (stem: String, suffix: String) {
        let name = FileSystem.name(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }
}
