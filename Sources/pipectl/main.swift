import Glibc

// Whoever stops reading (`pipectl list | head`) ends this program without a word, whatever it has inherited.
signal(SIGPIPE, SIG_DFL)
// Only so that wcwidth(3) knows how wide each character is.
setlocale(LC_CTYPE, "C.UTF-8")

exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
