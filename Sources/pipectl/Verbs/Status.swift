import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let check = Option(
        "--check", "one line for a monitor; the exit code is 0, 1 if attention is needed, or 2 without a daemon")
    fileprivate static let failed = Option(
        "--failed", value: "N", "with --check: maximum number of failed jobs; default: 0")
    fileprivate static let since = Option(
        "--since", value: "TIME", "with --check: count only jobs that have failed since then, as 1d or 09:30")
    fileprivate static let unfinished = Option(
        "--unfinished", value: "N", "with --check: maximum number of unfinished jobs; default: no limit")
    fileprivate static let ignored = Option(
        "--ignored", value: "N", "with --check: maximum number of ignored files; default: no limit")
    fileprivate static let disk = Option(
        "--disk", value: "PERCENT", "with --check: how full a disk of originals or results may be; default: no limit")
    fileprivate static let fleet = Option("--fleet", "the other machines that share the work")
    fileprivate static let patience = Option(
        "--timeout", value: "TIME", "with --check: how long the daemon may take to answer, as 30s; default: 10s")
}

extension Verb {
    static let status = Verb(
        name: "status",
        alias: "st",
        summary: "what the daemon is doing; the same as no verb",
        usage: "[--fleet | --check [--failed N] [--since TIME] [--unfinished N] [--ignored N] [--disk PERCENT] "
            + "[--timeout TIME]]",
        discussion: [
            "Shows problems first, then the jobs, the queues, the inboxes and the ignored files.",
            "With --check, a problem, a paused queue, or more jobs or files than the options allow need attention. If the",
            "check itself can't be made, for example without permission to use the socket, the line says",
            "so, and the exit code is 3.",
        ],
        options: [.fleet, .check] + limits,
        examples: [
            Example("pipectl", "the overview"),
            Example("pipectl status --json | jq .jobs.failed", "one figure, for a script"),
            Example("pipectl status --fleet", "the other machines, and what each has"),
            Example("pipectl status --check --since 1d --unfinished 5000", "for Nagios, Icinga, Zabbix and their like"),
        ],
        run: { context in
            if context.invocation.has(.check) { return try check(context) }
            if let option = limits.first(where: context.invocation.has) {
                throw Failure.usage("\(option.name) is for a monitor: pipectl status --check \(option.written)")
            }
            if context.invocation.has(.fleet) { return try showFleet(context) }
            let status = try context.call(Call.Status()).status
            if context.json {
                try context.output.document(status)
            } else {
                let progress = status.jobs.running > 0 ? try context.call(Call.Progress()) : nil
                try context.output.lines(
                    Overview(status: status, progress: progress, width: context.output.columns).lines)
            }
            return .done
        })

    /// Serves `pipectl status --fleet` and `pipectl fleet`.
    static func showFleet(_ context: Context) throws -> ExitCode {
        let status = try context.call(Call.Status()).status
        guard let fleet = status.fleet else {
            throw Failure(
                "NoFleet",
                "this daemon does not belong to a fleet; `pipectl help fleet` says how to join one", .failed)
        }
        let totals = try FleetTotals(fleet, status, context)
        if context.json {
            try context.output.document(totals)
        } else {
            try context.output.lines(fleet.lines(totals, width: context.output.columns))
        }
        return try context.report(totals.silent)
    }

    private static let limits: [Option] = [.failed, .since, .unfinished, .ignored, .disk, .patience]

    private static func check(_ context: Context) throws -> ExitCode {
        try context.output.print(try verdict(context), json: context.json)
    }

    private static func verdict(_ context: Context) throws -> Verdict {
        let invocation = context.invocation
        let limits = Verdict.Limits(
            failed: try invocation.number(.failed) ?? 0, unfinished: try invocation.number(.unfinished),
            ignored: try invocation.number(.ignored), disk: try invocation.number(.disk))
        if let disk = limits.disk, disk > 100 {
            throw Failure.usage("--disk is a percentage, up to 100, not '\(disk)'")
        }
        let since = invocation.value(.since)
        let patience = max(1, Int(min(try invocation.seconds(.patience) ?? 10, 1e6).rounded(.up)))
        do {
            try context.client().wait(atMost: patience)
            let status = try context.call(Call.Status()).status
            var failed = status.jobs.failed
            if let since {
                failed = 0
                try context.client().stream(Call.List(states: ["failed"], since: since)) { reply in
                    failed += reply.jobs.count
                    return true
                }
            }
            return Verdict(status, failed: failed, period: since, limits)
        } catch {
            var failure = Failure(error)
            if (error as? SystemError)?.code == EAGAIN {
                let words = "the daemon at \(context.address.path) has not answered for \(patience) s"
                failure = Failure("TimedOut", words, .unreachable)
            }
            // If the user may not use the socket, the daemon's state is unknown.
            guard failure.code == .unreachable, failure.name != Unreachable.permissionDenied else { throw error }
            return Verdict(.away, failure)
        }
    }
}

extension Verdict {
    /// The verdict `unknown` for a check that has failed; nil for any other command. A monitor would mistake the usual
    /// exit codes for states of the daemon.
    init?(_ failure: Failure, of words: [String]) {
        guard words.contains(Option.check.name), Parser.verb(in: words)?.name == Verb.status.name else { return nil }
        self.init(.unknown, failure)
    }
}

extension Output {
    func print(_ verdict: Verdict, json: Bool) throws -> ExitCode {
        if json {
            try document(verdict)
        } else {
            try line("\(verdict.line)")
        }
        return verdict.exitCode
    }
}
