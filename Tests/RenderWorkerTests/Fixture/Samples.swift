import Foundation
import TestTools

/// The project's own synthetic pictures, which are made once for all tests.
enum Samples {
    private static let folder = Result {
        let folder = try TemporaryFolder()
        let program = WorkerProcess.programs.appendingPathComponent("pipelined-samples").path
        let outcome = try ChildProcess(program, [folder.path]).wait()
        guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
        return folder
    }

    static func file(_ name: String) throws -> TemporaryFile {
        let path = try folder.get().path + "/" + name
        return try TemporaryFile([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    }
}
