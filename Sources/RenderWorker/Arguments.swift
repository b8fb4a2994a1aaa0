import PipelineModel

struct Arguments {
    enum Task { case work, help, version }

    var task = Task.work
    /// The arguments that are not options: plugin files, and folders that contain plugins.
    var words: [String] = []
    /// Folders that contain the filters' resource folders. A resource folder has the name of its filter.
    var resources: [String] = []
    var joins = true
    /// Traits that the worker ignores, though its filters declare them.
    var withdrawn: Set<StageTrait> = []
    /// Whether the worker loads the JPEG XL encoder.
    var writesJXL = false
    var decoders = Decoders()
    /// Whether forbidden system calls fail instead of killing the worker, so that the worker can report their names.
    var namesCalls = false

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
            case "--libjpeg": decoders.jpeg = .libjpeg
            case "--libvips-png": decoders.png = .libvips
            case "--name-calls": namesCalls = true
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

    init(_ complaint: String) { description = "\(complaint); --help shows what is" }
}
