import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

// Signals get through, whatever the parent left blocked.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
// A client that goes away is an error of `send`, a broken lease (FileSystem.isOpenForWriting) is of no interest.
signal(SIGPIPE, SIG_IGN)
signal(SIGIO, SIG_IGN)

func complain(_ message: String) {
    FileHandle.standardError.write(Data("pipelined: \(message)\n".utf8))
}

do {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    let places = arguments.root.map(Places.below) ?? .system
    switch arguments.task {
    case .help: print(Manual.help)
    case .manual(let manual): try manual.print()
    case .version: print("pipelined \(Release.version)")
    case .check: exit(try Check.run(places))
    case .run: try Daemon(places: places).run()
    }
} catch let error as UsageError {
    complain(error.description)
    exit(ExitStatus.usage.rawValue)
} catch let error as StartError {
    for line in error.description.split(separator: "\n") { complain(String(line)) }
    exit(error.status.rawValue)
} catch {
    complain("\(error)")
    exit(ExitStatus.failed.rawValue)
}
