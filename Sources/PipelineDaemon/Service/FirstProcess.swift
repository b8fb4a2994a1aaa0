import Foundation
import Glibc
import PictureFiles
import SystemCalls

/// The first process of a container. The kernel treats this process specially. Orphans become its children, and stay
/// zombies until it waits for them. A signal without a handler does not reach it. Therefore this process starts the
/// daemon as its child, passes signals on to the daemon, waits for every child that ends, and exits with the daemon's
/// status.
enum FirstProcess {
    static var isThis: Bool { getpid() == 1 }

    static func run() throws(SystemError) -> Never {
        var awaited = sigset_t()
        sigemptyset(&awaited)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] { sigaddset(&awaited, number) }
        // Blocked signals stay pending until `sigwait` takes them, even if they arrive before `sigwait` runs.
        sigprocmask(SIG_BLOCK, &awaited, nil)
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let daemon = try ChildProgram.start(
            ["\(Places.programFolder)/pipelined"] + CommandLine.arguments.dropFirst(), environment: environment,
            streams: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])
        while true {
            var number: Int32 = 0
            sigwait(&awaited, &number)
            if number == SIGCHLD {
                reap(daemon)
            } else {
                kill(daemon, number)
            }
        }
    }

    /// Reaps all ended children, because one SIGCHLD may stand for several.
    private static func reap(_ daemon: Int32) {
        var status: Int32 = 0
        while true {
            let ended = waitpid(-1, &status, WNOHANG)
            guard ended > 0 else { return }
            // Convert the wait status to the exit status that a shell would report.
            if ended == daemon { exit(status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f) }
        }
    }
}
