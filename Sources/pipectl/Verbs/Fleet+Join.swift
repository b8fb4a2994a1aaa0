import Glibc
import PipelineControl
import SystemCalls

extension Verb {
    private struct Joined: Encodable {
        let name: String
        let servers: [String]
        let files: [String]
        let problems: [Control.Problem]
        let fleet: Control.Fleet?
    }

    /// The JSON that `leave` prints.
    private struct Left: Encodable {
        let files: [String]
        let problems: [Control.Problem]
    }

    /// Writes the node's files, makes the daemon check them, and reloads the configuration. The daemon then joins the
    /// fleet.
    static func joinFleet(_ path: String, _ context: Context) throws -> ExitCode {
        let join = try JoinFile(at: path)
        let recipes = try context.call(Call.Recipes()).folder
        let node = NodeConfiguration(in: FileSystem.folder(of: recipes))
        try node.checkFree()
        let (files, others) = try WrittenFiles.all { written in
            try node.write(join, owner: daemonsUser(context), written)
            return (written.files, try tried(written.files, context))
        }
        let fleet = others.isEmpty ? try joined(context) : nil
        if context.json {
            try context.output.document(
                Joined(name: join.name, servers: join.servers, files: files, problems: others, fleet: fleet))
        } else {
            try show(files, others, fleet, path, context)
        }
        return fleet?.server != nil && fleet?.problem == nil ? .done : .failed
    }

    /// Removes the node's files and reloads the configuration, so that the daemon leaves the fleet.
    static func leaveFleet(_ context: Context) throws -> ExitCode {
        let node = NodeConfiguration(in: FileSystem.folder(of: try context.call(Call.Recipes()).folder))
        let files = try node.remove()
        let problems = try context.call(Call.Reload()).problems
        if context.json {
            try context.output.document(Left(files: files, problems: problems))
        } else {
            for file in files { try context.output.line("\("removed", .good) \(file)") }
            for problem in problems {
                try context.output.line("\("keeps the old settings in force:", .bad) \(problem.placed)")
            }
            try context.output.line(
                problems.isEmpty
                    ? "This daemon has left the fleet. Where the fleet's folder is, run: pipectl fleet remove NODE"
                    : "Then:      mend that, and `pipectl reload`")
        }
        return problems.isEmpty ? .done : .failed
    }

    private static func show(
        _ files: [String], _ others: [Control.Problem], _ fleet: Control.Fleet?, _ path: String, _ context: Context
    ) throws {
        for file in files { try context.output.line("\("wrote", .good) \(file)") }
        for problem in others {
            try context.output.line("\("it does not take effect because of another file:", .bad) \(problem.placed)")
        }
        if let fleet {
            try context.output.line()
            if let problem = fleet.problem { try context.output.line("\("problem:", .bad) \(problem)") }
            try context.output.line(fleet.head)
        }
        try context.output.line()
        if !others.isEmpty { try context.output.line("Then:      mend that file, and `pipectl reload`") }
        try context.output.lines([
            Text("Remove:    rm \(path)    # it holds the node's key"), "Look:      pipectl fleet",
        ])
    }

    /// The ID of the daemon's user, who owns the daemon's socket.
    private static func daemonsUser(_ context: Context) throws -> UInt32 {
        try FileSystem.status(FileSystem.resolved(context.address.path))?.owner ?? geteuid()
    }

    /// Makes the daemon check its configuration. Throws for problems in `files`; returns problems in other files.
    private static func tried(_ files: [String], _ context: Context) throws -> [Control.Problem] {
        let problems = try context.call(Call.Reload(check: true)).problems
        let own = problems.filter { files.contains($0.file) }
        guard own.isEmpty else {
            throw Failure(
                "BadConfiguration",
                "the daemon can't use it, so nothing was written:\n\(own.map(\.placed).joined(separator: "\n"))",
                .failed)
        }
        return problems
    }

    /// Reloads the configuration, then waits up to five seconds until the fleet reports a server or a problem.
    private static func joined(_ context: Context) throws -> Control.Fleet? {
        let problems = try context.call(Call.Reload()).problems
        guard problems.isEmpty else {
            let lines = problems.map(\.placed).joined(separator: "\n")
            throw Failure("BadConfiguration", "nothing was changed:\n\(lines)", .failed)
        }
        let end = ContinuousClock.now + .seconds(5)
        while true {
            let fleet = try context.call(Call.Status()).status.fleet
            if let fleet, fleet.server != nil || fleet.problem != nil { return fleet }
            guard ContinuousClock.now < end else { return fleet }
            usleep(200_000)
        }
    }
}
