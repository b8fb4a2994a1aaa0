import Glibc

// Resets the signals to their defaults, whatever the parent process has set. Ctrl-C must work, and SIGPIPE must end
// this program silently when the reader of its output exits, as in `pipectl list | head`.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// wcwidth(3) needs this for the width of each character.
setlocale(LC_CTYPE, "C.UTF-8")

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
