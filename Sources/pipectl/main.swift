import Glibc

// Signals are set as a shell sets them, whatever the parent left: Ctrl-C gets through, and a reader that stops
// (`pipectl list | head`) ends this program without a word.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// wcwidth(3) then knows how wide each character is.
setlocale(LC_CTYPE, "C.UTF-8")

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
