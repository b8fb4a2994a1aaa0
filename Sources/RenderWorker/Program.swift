import CVips
import Foundation
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// What happens from the start of the process to the first message.
enum Program {
    static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help)
            return EX_OK
        }
        if arguments.contains("--version") {
            print("pipelined-render \(Release.version)")
            return EX_OK
        }
        guard let channel = WorkerChannel.inherited() else {
            print(help)
            return EX_USAGE
        }
        guard Vips.start() else {
            FileHandle.standardError.write(Data("pipelined-render: libvips does not start: \(VipsError.take())\n".utf8))
            return EX_SOFTWARE
        }
        let filters = FilterLibrary(folders: arguments) { try? channel.send(WorkerMessage.loading($0)) }
        // Everything trusted has been loaded, nothing foreign has been read, one thread runs.
        let missing = Confinement.begin(.render)
        Worker(channel: channel, filters: filters, missing: missing).run()
    }

    private static let help = """
        pipelined-render PLUGINFOLDER…

        Reads, renders and writes pictures for pipelined, one at a time. The daemon starts it, with a socket as
        descriptor 3; it is of no use alone. Filters are loaded from the folders given, the first of a name wins.
        Then it confines itself (Landlock, seccomp): from there on it opens no file, and reaches no network.

          --version   the version
          --help      this text

        To render pictures start the daemon: pipelined --root FOLDER
        """
}
