import CVips
import Foundation
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// Entry point: parses the arguments, then runs a worker.
enum Program {
    static func run(_ words: [String]) -> Int32 {
        do {
            let arguments = try Arguments(words)
            switch arguments.task {
            case .help: print(help)
            case .version: print("pipelined-render \(Release.version)")
            case .work: return try work(arguments)
            }
            return EX_OK
        } catch let error as UsageError {
            complain(error.description)
            return 2
        } catch {
            complain("\(error)")
            return EXIT_FAILURE
        }
    }

    private static func work(_ arguments: Arguments) throws -> Int32 {
        guard let channel = WorkerChannel.inherited() else {
            print(help)
            return 2
        }
        try startVips(writesJXL: arguments.writesJXL)
        let filters = FilterLibrary(
            arguments.words, resources: arguments.resources, joins: arguments.joins, withdrawn: arguments.withdrawn
        ) {
            try? channel.send(WorkerMessage.loading($0))
        }
        CrashNotes.prepare(filters)
        let trail = try? FilterTrail()
        // Evaluate this lazy value now: it looks up files, which is impossible after the confinement.
        _ = Encoders.missing
        // At this point everything trusted is loaded, no byte of a picture has been read, and only one thread runs.
        var walls = Walls.render(readable: filters.readable)
        if arguments.namesCalls { walls.nameCalls() }
        let missing = Confinement.begin(walls)
        Worker(channel: channel, missing: missing, trail: trail, decoders: arguments.decoders).run(filters)
    }

    private static func startVips(writesJXL: Bool = false) throws {
        guard Vips.start(writesJXL: writesJXL) else { throw VipsError.take() }
    }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data("pipelined-render: \(message)\n".utf8))
    }

    private static let help = """
        pipelined-render [--resources FOLDER]… [--apart] [--withdraw TRAIT]… [--jxl] [--libjpeg] [--libvips-png] PLUGIN…

        Reads, renders and writes pictures for pipelined, one at a time. The daemon starts it, with a socket as
        descriptor 3. Plugins are files, or folders of them; of two filters of one name the first is used. Then the
        worker confines itself (Landlock, seccomp): from there on it opens no file but those of its filters' own
        folders, and reaches no network.

          --resources FOLDER  where filters have folders of their names; those of PLUGIN count, too
          --apart             each filter for itself, without joining several into one table
          --withdraw TRAIT    filters that have this trait are handled as if they had not
          --jxl               loads the encoder of JPEG XL, too
          --libjpeg           libjpeg-turbo decodes every JPEG, also those that the worker could decode itself
          --libvips-png       libvips decodes every PNG, also those that the worker could decode itself
          --name-calls        deadly system calls fail, and their names are reported
          --version           the version
          --help              this text

        Exit codes: 0 all is well; 1 it is not; 2 wrong usage. To render pictures start the daemon:
        pipelined --root FOLDER. To test a filter: pipectl plugins try, pipectl plugins check.
        """
}
