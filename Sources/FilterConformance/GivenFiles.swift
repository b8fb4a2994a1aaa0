import Glibc
import PipelineModel
import Synchronization
import SystemCalls

/// The files that the command line names for a filter. The daemon would take them from the recipes' folder.
enum GivenFiles {
    private static let state = Mutex<(names: FilterFiles, bytes: [String: Descriptor])>((FilterFiles(), [:]))

    static var names: FilterFiles { state.withLock { $0.names } }

    /// Reads the file, and returns the name under which a chain can refer to the file.
    static func take(_ path: String) throws -> String {
        let name = FileSystem.name(of: path)
        if names.digests[path] != nil { return path }
        let content = try FileSystem.read(Descriptor.open(path, O_RDONLY), most: .max, called: path)
        let (digest, memory) = (SHA256.hex(content), try Descriptor.memory(content))
        state.withLock { state in
            state.names.digests[name] = digest
            state.bytes[digest] = memory
        }
        return name
    }

    /// The files that the stages need, in the order in which a worker takes them.
    static func bytes(for stages: [Stage]) -> [Descriptor] {
        state.withLock { state in stages.fileDigests.compactMap { state.bytes[$0] } }
    }
}
