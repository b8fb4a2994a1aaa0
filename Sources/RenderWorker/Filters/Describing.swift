import Foundation
import Glibc
import WorkerProtocol

/// `--describe`: loads files one after the other, and says of each what it is before the next is touched. The one in which this process
/// ends, or stays, is the one of which nothing is said.
enum Describing {
    static func run(_ files: [String]) throws {
        // Whatever plugins print is no answer.
        let output = FileHandle(fileDescriptor: dup(STDOUT_FILENO))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        for file in files { try output.write(contentsOf: JSONEncoder().encode(finding(file)) + Data("\n".utf8)) }
    }

    private static func finding(_ file: String) -> PluginFinding {
        do {
            return try Plugin(file).map { .filter($0.description) } ?? .unrelated
        } catch {
            return .refused("\(error)")
        }
    }
}
