import SystemCalls

/// What the command line asks for.
struct Arguments {
    enum Task { case run, check, help, version }

    var task = Task.run
    var root: String?

    init(_ words: some Sequence<String>) throws(UsageError) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--root":
                guard let folder = words.next(), !folder.isEmpty else { throw UsageError("--root takes a folder") }
                root = folder
            case _ where word.hasPrefix("--root="):
                root = String(word.dropFirst("--root=".count))
                if root?.isEmpty == true { throw UsageError("--root takes a folder") }
            case "--check": task = .check
            case "--help", "-h": task = .help
            case "--version": task = .version
            default: throw UsageError("'\(word)' is not known")
            }
        }
    }

    static let help = """
        pipelined: pictures dropped into a folder come out as what a recipe makes of them.

        Usage: pipelined [--root DIR] [--check]

          --root DIR   keep everything below DIR: inbox/, outbox/, etc/, state/, run/control.sock;
                       needs no root rights and no configuration
          --check      read configuration and plugins, say all that is wrong with them, and exit
          --version    print the version
          --help       print this

        Without --root the system's places are used: /etc/pipelined, /var/lib/pipelined and
        /run/pipelined. Control it with pipectl; `pipectl help` says how. The log is standard error;
        with Log=operations in [Daemon] it tells of each step of each operation, too.

        Exit codes: 0 stopped as asked, or nothing is wrong; 1 can't run; 64 wrong usage;
        75 another one runs on the same root; 78 the configuration is wrong.
        """
}

struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ complaint: String) { description = "\(complaint); `pipelined --help` shows what is" }
}
