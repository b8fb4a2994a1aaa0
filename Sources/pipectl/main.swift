import Glibc

// Resets the signals to a shell's defaults, whatever the parent left: Ctrl-C works, and a reader that stops
// (`pipectl list | head`) ends this program silently.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// wcwidth(3) needs this for the width of each character.
setlocale(LC_CTYPE, "C.UTF-8")

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
