struct Arguments {
    enum Task { case `try`, check, help, version }

    var task = Task.help
    /// The plugin, followed by the arguments of the task.
    var words: [String] = []
    /// Folders that contain the filters' resource folders. A resource folder has the name of its filter.
    var resources: [String] = []
    /// Whether the workers join several filters into one table.
    var joins = true
    /// Whether the workers load the JPEG XL encoder.
    var writesJXL = false
    var json = false
    /// Timeout for loading the plugin, and for each picture.
    var patience = Duration.seconds(60)

    init(_ words: some Sequence<String>) throws(UsageError) {
        var words = words.makeIterator()
        switch words.next() {
        case "try": task = .try
        case "check": task = .check
        case nil, "--help", "-h": return
        case "--version":
            task = .version
            return
        case let word?: throw UsageError("'\(word)' is not known")
        }
        while let word = words.next() {
            switch word {
            case "--resources":
                guard let folder = words.next(), !folder.isEmpty else { throw UsageError("--resources takes a folder") }
                resources.append(folder)
            case "--apart": joins = false
            case "--patience":
                guard let seconds = words.next().flatMap({ Int($0) }), seconds > 0 else {
                    throw UsageError("--patience takes seconds")
                }
                patience = .seconds(seconds)
            case "--json": json = true
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
