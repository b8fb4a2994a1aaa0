import PipelineModel

struct Arguments {
    enum Task { case work, `try`, conform, help, version }

    var task = Task.work
    /// Plugin files and folders; for `--try` and `--conform`, the plugin and the words after it.
    var words: [String] = []
    /// Folders that hold resource folders named after filters.
    var resources: [String] = []
    var joins = true
    /// Traits that the worker ignores, though its filters declare them.
    var withdrawn: Set<StageTrait> = []
    /// Loads the encoder of JPEG XL, too.
    var writesJXL = false
    var json = false
    /// Deadly system calls fail instead of killing the worker, so that it can name them.
    var namesCalls = false
    /// Timeout of `--try` and `--conform` for loading, and for each picture.
    var patience = Duration.seconds(60)

    init(_ words: some Sequence<String>) throws(UsageError) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--resources":
                guard let folder = words.next(), !folder.isEmpty else { throw UsageError("--resources takes a folder") }
                resources.append(folder)
            case "--apart": joins = false
            case "--withdraw":
                guard let trait = words.next().flatMap(StageTrait.init) else {
                    throw UsageError("--withdraw takes a trait, as 'luma only'")
                }
                withdrawn.insert(trait)
            case "--jxl": writesJXL = true
            case "--name-calls": namesCalls = true
            case "--patience":
                guard let seconds = words.next().flatMap({ Int($0) }), seconds > 0 else {
                    throw UsageError("--patience takes seconds")
                }
                patience = .seconds(seconds)
            case "--json": json = true
            case "--try": task = .try
            case "--conform": task = .conform
            case "--help", "-h": task = .help
            case "--version": task = .version
            case _ where word.hasPrefix("--"): throw UsageError("'\(word)' is not known")
            default: self.words.append(word)
            }
        }
    }
}

struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ complaint: String) { description = "\(complaint); `pipectl help plugins` shows what is" }
}
