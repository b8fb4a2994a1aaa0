import CVips
import Foundation
import SystemCalls

/// The program `pipelined-filters`: tests a filter for its author, in workers like the daemon's.
enum Program {
    static func run(_ words: [String]) -> Int32 {
        let inJSON = words.contains("--json")
        do {
            let arguments = try Arguments(words)
            switch arguments.task {
            case .help: print(help)
            case .version: print("pipelined-filters \(Release.version)")
            case .try: return try Trying.run(arguments)
            case .check:
                try startVips()
                return try Conforming.run(arguments)
            }
            return EX_OK
        } catch let error as UsageError {
            try? complain("Usage", error.description, inJSON)
            // Return 2, as pipectl does after wrong usage, because pipectl's `plugins` verbs run these tasks.
            return 2
        } catch {
            try? complain("Failed", "\(error)", inJSON)
            return EXIT_FAILURE
        }
    }

    private static func startVips() throws {
        // Keep libvips from loading all its modules, which takes longer than many checks. PNG, TIFF and JPEG need no
        // module.
        setenv("VIPSHOME", "/nonexistent", 1)
        guard vips_init("pipelined-filters") == 0 else { throw FilterTrouble.ofVips() }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
    }

    private static func complain(_ error: String, _ message: String, _ inJSON: Bool) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line =
            inJSON ? try encoder.encode(["error": error, "message": message]) : Data("pipectl: \(message)".utf8)
        FileHandle.standardError.write(line + Data("\n".utf8))
    }

    private static let help = """
        pipelined-filters try [--json] PLUGIN [NAME=VALUE]… IN OUT
        pipelined-filters check [--json] PLUGIN [NAME=VALUE]…

        Tests a filter in processes of pipelined-render, which are confined as the daemon's workers are. `pipectl plugins
        try` and `pipectl plugins check` run this program.

          try                 one filter on one picture
          check               puts a filter through a suite of tests, and prints a report
          --json              for programs
          --resources FOLDER  where filters have folders of their names
          --apart             each filter for itself, without joining several into one table
          --patience SECONDS  gives a filter up after this time; the default is 60
          --version           the version
          --help              this text

        Exit codes: 0 all is well; 1 it is not; 2 wrong usage.
        """
}
