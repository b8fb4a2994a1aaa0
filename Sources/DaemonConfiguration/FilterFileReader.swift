import Glibc
import PipelineModel
import ServiceProgram
import SystemCalls

/// Reads the files that filters use, such as .cube files, from the recipes' folder. Such a file must be as trustworthy
/// as a recipe.
struct FilterFileReader {
    /// Maximum number of files. The number is limited, because each node of a fleet announces its files to all other
    /// nodes.
    private static let most = 100

    private(set) var files: FilterFiles
    /// Copies of the files in memory, by SHA-256. If a file is changed later, its copy stays the same.
    private(set) var bytes: [String: Descriptor] = [:]
    private var left: Int64

    /// `most` is the maximum size of all files together, in bytes.
    init(_ folder: String, for filters: [StageDescription], most: Int64) {
        (files, left) = (FilterFiles(in: folder), most)
        let endings = Set(filters.flatMap(\.parameters).filter { $0.type == .file }.flatMap(\.choices))
        let names = (try? FileSystem.names(in: folder)) ?? []
        for name in names.compactMap(\.self).filter({ !$0.hasPrefix(".") }).sorted()
        where endings.contains(where: name.hasSuffix) {
            do {
                files.refused[name] = try refusal(of: name, at: FileSystem.join(folder, name))
            } catch {
                files.refused[name] = "it can't be read: \(error)"
            }
        }
    }

    /// Reads a file. Returns the reason if the file can't be used, otherwise nil.
    private mutating func refusal(of name: String, at path: String) throws(SystemError) -> String? {
        guard files.digests.count < Self.most else {
            return "there are more than \(Self.most) such files; remove some of them"
        }
        let way = try Trust.way(to: path)
        if let refusal = way.refusal { return refusal }
        let content = try FileSystem.read(try way.open(O_RDONLY), most: Int(left) + 1, called: path)
        guard content.count <= left else {
            return "with it, the files of filters would be larger than FilterFiles= allows; raise that in [Daemon], or "
                + "remove files"
        }
        let digest = SHA256.hex(content)
        if bytes[digest] == nil {
            bytes[digest] = try Descriptor.memory(content)
            left -= Int64(content.count)
        }
        files.digests[name] = digest
        return nil
    }
}
