import Glibc
import SystemCalls

// Resets the signals to their defaults, whatever the parent process has set. Ctrl-C must work, and SIGPIPE must end
// this program silently when the reader of its output exits, as in `pipectl list | head`.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// wcwidth(3) needs this for the width of each character.
setlocale(LC_CTYPE, "C.UTF-8")

// In a word that is not UTF-8, such as some file names, escapes replace the invalid bytes.
let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
    .compactMap { word in word.map { UnsafeRawBufferPointer(start: $0, count: strlen($0)).escaped } }

exit(Program.run(words).rawValue)
