import CLinux
import Foundation
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// The worker's life from the start of the process to the first message.
enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help)
            return EX_OK
        }
        if arguments.contains("--version") {
            print("pipelined-fetch \(Release.version)")
            return EX_OK
        }
        guard let channel = WorkerChannel.inherited() else {
            print(help)
            return EX_USAGE
        }
        // A write to a server that has hung up must fail, instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        guard Curl.start(), let worker = Worker(channel: channel) else {
            FileHandle.standardError.write(Data("pipelined-fetch: libcurl does not start\n".utf8))
            return EX_SOFTWARE
        }
        // Small stacks, because libcurl starts a thread for each name that it looks up; the default is 8 MB each.
        _ = clinux_thread_stacks(512 << 10)
        // All trusted files are loaded, no foreign byte has been read, and only one thread runs.
        worker.run(missing: Confinement.begin(.fetch))
    }

    private static let help = """
        pipelined-fetch

        Downloads for pipelined, all transfers in one process. The daemon starts it, with a socket as descriptor 3; it is of
        no use alone. It confines itself (Landlock, seccomp): it reads what looking up names and checking certificates need,
        and writes to the files that the daemon opens for it.

          --version   the version
          --help      this text

        To download pictures start the daemon, and: pipectl add https://…
        """
}
