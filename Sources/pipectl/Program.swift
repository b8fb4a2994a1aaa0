import Glibc
import PipelineControl
import SystemCalls

/// Runs a command line and returns its exit code.
enum Program {
    static func run(_ words: [String]) -> ExitCode {
        do {
            let invocation = try Parser.parse(words)
            let context = try Context(invocation)
            do {
                let code = try invocation.verb.run(context)
                try context.output.flush()
                return code
            } catch {
                try? context.output.flush()
                throw error
            }
        } catch {
            let failure = Failure(error)
            let json = words.prefix { $0 != "--" }.contains(where: Option.json.isCalled)
            if let verdict = Verdict(failure, of: words) {
                let output = Output(color: .never)
                if let code = try? output.print(verdict, json: json), (try? output.flush()) != nil { return code }
            }
            report(failure, json: json)
            return failure.code
        }
    }

    /// Reports a failure on standard error.
    static func report(_ failure: Failure, json: Bool) {
        let lines = "pipectl: \(failure.message)".split(separator: "\n", omittingEmptySubsequences: false)
        printError(failure, lines.map(String.init), json: json)
    }

    /// Writes a remark to standard error, in words or as JSON.
    static func say(_ said: some Encodable, _ words: String, json: Bool) {
        printError(said, ["pipectl: \(words)"], json: json)
    }

    /// Writes to standard error, as JSON or as lines. On a terminal, fits the lines to its width. Makes untrusted text
    /// in the lines printable, so that it can't control the terminal.
    static func printError(_ said: some Encodable, _ lines: [String], json: Bool) {
        if json, let line = try? JSONText.line(said) { return put(line) }
        let lines = lines.map { Text($0) }
        let width = Terminal.isTerminal(STDERR_FILENO) ? Terminal.columns(STDERR_FILENO) : nil
        let fitted = lines.flatMap { line in width.map(line.wrapped) ?? [line] }
        put(fitted.map { $0.rendered(color: false) }.joined(separator: "\n"))
    }

    private static func put(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
