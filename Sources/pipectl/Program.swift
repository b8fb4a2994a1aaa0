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
                if let code = try? output.tell(verdict, json: json), (try? output.flush()) != nil { return code }
            }
            report(failure, json: json)
            return failure.code
        }
    }

    /// Reports a failure on standard error. Makes untrusted text printable, so that it can't control the terminal.
    static func report(_ failure: Failure, json: Bool) {
        var text = ""
        if json, let line = try? JSONText.line(failure) {
            text = line
        } else {
            let lines = failure.message.split(separator: "\n", omittingEmptySubsequences: false)
            text = "pipectl: " + lines.map { String($0).printable }.joined(separator: "\n")
        }
        put(text)
    }

    /// Writes a remark to standard error, in words or as JSON.
    static func say(_ said: some Encodable, _ words: String, json: Bool) {
        let line = json ? try? JSONText.line(said) : nil
        put(line ?? "pipectl: \(words.printable)")
    }

    /// Writes a line to standard error as it is.
    static func put(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
