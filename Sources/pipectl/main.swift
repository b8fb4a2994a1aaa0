import Glibc
import SystemCalls

// Resets the signals to their defaults, whatever the parent process has set. Ctrl-C must work, and SIGPIPE must end
// this program silently when the reader of its output exits, as in `pipectl list | head`.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// wcwidth(3) needs a UTF-8 locale to determine the width of each character.
setlocale(LC_CTYPE, "C.UTF-8")

let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
    .compactMap { word in word.map { UnsafeRawBufferPointer(start: $0, count: strlen($0)) } }
// Swift would replace the invalid bytes, and the word would name a file that does not exist.
if let wrong = words.first(where: { String(validating: $0, as: UTF8.self) == nil }) {
    Program.report(.usage("\(wrong.escaped) is not UTF-8; rename it"), json: false)
    exit(ExitCode.usage.rawValue)
}

exit(Program.run(words.map { String(decoding: $0, as: UTF8.self) }).rawValue)
