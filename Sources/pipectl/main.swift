import Glibc

// Signals as a shell gives them, whatever the parent left: Ctrl-C gets through, and whoever stops reading
// (`pipectl list | head`) ends this program without a word.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
signal(SIGPIPE, SIG_DFL)
// Only so that wcwidth(3) knows how wide each character is.
setlocale(LC_CTYPE, "C.UTF-8")

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
