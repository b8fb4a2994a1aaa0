import Glibc
import ManualPages
import ServiceProgram
import SystemCalls

signal(SIGPIPE, SIG_IGN)

do {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    switch arguments.task {
    case .help: print(Manual.help)
    case .manual: print(Manual.page.roff(version: Release.version, date: Release.date), terminator: "")
    case .version: print("pipelined-gallery \(Release.version)")
    case .run:
        if let complaint = ProcessLimit.complaint(of: "the gallery", [.openFiles]) {
            Log.refusal(complaint, by: Arguments.Option.program)
            exit(EXIT_FAILURE)
        }
        try Gallery(arguments).run()
    }
} catch let error as UsageError {
    Log.refusal(error.description, by: Arguments.Option.program)
    exit(EX_USAGE)
} catch {
    Log.refusal("\(error)", by: Arguments.Option.program)
    exit(EXIT_FAILURE)
}
