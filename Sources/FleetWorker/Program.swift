import CNats
import Foundation
import SystemCalls
import WorkerProtocol

/// The life of the fleet's process from its start to the first message.
enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help)
            return EX_OK
        }
        if arguments.contains("--version") {
            print("pipelined-fleet \(Release.version)")
            return EX_OK
        }
        guard let channel = WorkerChannel.inherited() else {
            print(help)
            return EX_USAGE
        }
        _ = channel
        return EX_OK
    }

    private static let help = """
        pipelined-fleet

        Lends pictures to other nodes, and takes theirs. The daemon starts it, with a socket as descriptor 3; it is of
        no use alone. It confines itself (Landlock, seccomp): it connects to the fleet's servers, and reads and writes the
        files that the daemon opens for it.

          --version   the version
          --help      this text
        """
}
