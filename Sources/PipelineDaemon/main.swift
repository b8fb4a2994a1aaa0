import DaemonConfiguration
import Foundation
import Glibc
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

// Unblock all signals, whatever the parent has blocked.
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
// Ignore SIGPIPE: if a client disconnects, `send` returns an error instead. Ignore SIGIO: a broken lease (see
// FileSystem.isOpenForWriting) needs no action.
signal(SIGPIPE, SIG_IGN)
signal(SIGIO, SIG_IGN)

func checkLimits() throws(StartError) {
    guard let complaint = ProcessLimit.complaint(of: "pipelined", [.openFiles, .addressSpace, .data]) else { return }
    throw StartError(status: .failed, description: complaint)
}

/// Keeps a development build, which may be somebody's first trial, away from the system's folders.
func checkRoot(_ places: Places) throws(StartError) {
    guard places.root == nil, InstalledProgram.isBuild else { return }
    throw StartError(
        status: .usage,
        description: """
            this is a build: without --root it would use the folders of the system, such as \(places.data)
            `\(CommandLine.arguments[0]) --root DIR` keeps everything in DIR, and `./run daemon` in ./var
            """)
}

do {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    let places = arguments.root.map(Places.below) ?? arguments.instance.map(Places.instance) ?? .system
    switch arguments.task {
    case .help: print(Manual.help)
    case .settings: print(CommentedSettings.text, terminator: "")
    case .manual(let manual): try manual.print()
    case .version: print("pipelined \(Release.version)")
    case .check:
        try checkLimits()
        try checkRoot(places)
        exit(try Check.run(places))
    case .giveBack: exit(try GiveBack.run(places))
    case .backup(let folder): exit(Backup.run(places, into: folder, json: arguments.inJSON))
    case .run:
        try checkLimits()
        try checkRoot(places)
        if FirstProcess.isThis { try FirstProcess.run() }
        try Daemon(places: places).run()
    }
} catch let error as UsageError {
    Log.refusal(error.description)
    exit(ExitStatus.usage.rawValue)
} catch let error as StartError {
    let lines = error.description.split(separator: "\n").map(String.init)
    for line in lines { Log.refusal(line) }
    if let first = lines.first { ServiceManager.notify("STATUS=\(first)") }
    exit(error.status.rawValue)
} catch {
    Log.refusal("\(error)")
    exit(ExitStatus.failed.rawValue)
}
