import CLinux
import Foundation
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// The program `pipelined-fetch`: starts libcurl, confines itself, and runs the worker.
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
        // Makes a write to a closed connection fail, instead of killing this process.
        signal(SIGPIPE, SIG_IGN)
        guard Curl.start(), let worker = Worker(channel: channel) else {
            FileHandle.standardError.write(Data("pipelined-fetch: libcurl does not start\n".utf8))
            return EX_SOFTWARE
        }
        // libcurl starts a thread for each name lookup. These threads need only small stacks; the default is 8 MB for
        // each thread.
        _ = clinux_thread_stacks(512 << 10)
        // Begin the confinement now: all trusted files are loaded, no foreign byte has been read, and only one thread
        // runs.
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
