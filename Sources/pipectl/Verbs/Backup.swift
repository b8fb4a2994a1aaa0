import Glibc
import PipelineControl
import SystemCalls

extension Verb {
    static let backup = Verb(
        name: "backup",
        summary: "copy everything that the daemon has into a folder, and check the copy",
        usage: "DIR",
        discussion: [
            "Copies pictures, ledger, settings, keys and your own filters into DIR, whether or not the daemon is running, and",
            "checks that the ledger's copy is whole and that no original is missing. In the folder of an earlier backup it",
            "copies only changes, and removes files that the daemon no longer has. Run it as root.",
            "DIR/pipelined-backup.json says whether the backup is complete; the next run continues one that was",
            "interrupted. Inboxes and outboxes in other places are named at the end, and not copied.",
            "docs/backup-and-moving.md explains how to restore it.",
        ],
        arguments: [Argument("DIR", kinds: [.folder], "the folder: new, empty, or with an earlier backup")],
        examples: [
            Example("pipectl backup /mnt/backup/pipelined", "a full backup, or an update of one"),
            Example("pipectl -i web backup /mnt/backup/web", "one of several daemons"),
        ],
        run: { context in
            let place: [String] =
                switch context.address.origin {
                case .root(let root): ["--root", root]
                case .instance(let name): ["--instance", name]
                case .system: []
                case .option, .variable:
                    throw Failure.usage("a socket does not name the daemon's folder; use --root DIR or --instance NAME")
                }
            guard let program = InstalledProgram.worker("pipelined") else {
                throw Failure(
                    "NotInstalled",
                    "pipelined is not beside pipectl in \(InstalledProgram.folder); build or install it", .failed)
            }
            let folder = context.invocation.arguments[0]
            try InstalledProgram.become(
                program, place + (context.json ? ["--json"] : []) + ["--backup", folder])
        })
}
