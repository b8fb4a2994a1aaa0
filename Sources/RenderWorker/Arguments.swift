import PipelineModel

struct Arguments {
    enum Task { case work, `try`, conform, help, version }

    var task = Task.work
    /// Plugins' files and folders. For `--try` also the words behind the filter.
    var words: [String] = []
    /// Folders in which filters have folders of their own.
    var resources: [String] = []
    var joins = true
    /// Traits that the worker ignores, though its filters declare them.
    var withdrawn: Set<StageTrait> = []
    /// Results may be JPEG XL.
    var writesJXL = false
    var json = false

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
