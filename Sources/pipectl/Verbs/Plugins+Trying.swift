import Glibc
import SystemCalls

/// `plugins try` and `plugins check`. They need no daemon, because they only start the program that tests filters.
enum FilterTrial: String {
    case `try`, check

    /// Replaces this process with the program that tests filters, which then determines the output and the exit code.
    func run(_ words: ArraySlice<String>, json: Bool) throws -> Never {
        guard let file = words.first else { throw Failure.usage("\(rawValue) needs a filter's file: \(usage)") }
        let (values, pictures) =
            self == .try ? (words.dropFirst().dropLast(2), words.dropFirst().suffix(2)) : (words.dropFirst(), [])
        guard self == .check || pictures.count == 2 else {
            throw Failure.usage("try needs a picture, and a file for the result: \(usage)")
        }
        if let word = values.first(where: { !$0.contains("=") }) {
            throw Failure.usage("'\(word)' is not NAME=VALUE: \(usage)")
        }
        guard FileSystem.mayExist(file) else {
            throw Failure("CannotRead", "there is no file \(file); `pipectl plugins new` starts a filter", .failed)
        }
        guard let program = InstalledProgram.worker("pipelined-filters") else {
            throw Failure(
                "NotInstalled",
                "pipelined-filters is not beside pipectl in \(InstalledProgram.folder); build or install it",
                .failed)
        }
        // Without a slash in the name, the loader would search the system's folders for the file.
        let plugin = file.contains("/") ? file : "./\(file)"
        try InstalledProgram.become(program, [rawValue] + (json ? ["--json"] : []) + [plugin] + values + pictures)
    }

    private var usage: String {
        switch self {
        case .try: "pipectl plugins try FILE [NAME=VALUE]… PICTURE RESULT"
        case .check: "pipectl plugins check FILE [NAME=VALUE]…"
        }
    }
}
