import Foundation
import Glibc

signal(SIGPIPE, SIG_IGN)
Running.handleSignals()
do {
    try Bench(options: Options(Array(CommandLine.arguments.dropFirst()))).run()
} catch {
    FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
    exit(1)
}
