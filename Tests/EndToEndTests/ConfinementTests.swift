import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Workers are confined")
struct ConfinementTests {
    @Test("a filter that opens a file or starts a program fails its job at once, and others continue")
    func hostile() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Self.compileThief(daemon)
            let runaway = CuriousPlugin.filter("runaway", "char *none[] = {0}; return execve(path, none, none);")
            try CuriousPlugin.compile(runaway, to: daemon.path("plugins/runaway.so"))
            let ledger = daemon.path("state/ledger.sqlite")
            try daemon.write(
                "[Recipe]\nInbox=thief\n[Output]\nChain=thief path=\(ledger)\n", to: "etc/recipes.d/thief.recipe")
            try daemon.write(
                "[Recipe]\nInbox=run\n[Output]\nChain=runaway path=/bin/true\n", to: "etc/recipes.d/run.recipe")
            try await daemon.start()
            for (inbox, error) in [
                ("thief", "confinement: the filter 'thief' tried to open \(ledger)"),
                (
                    "run",
                    "confinement: the filter 'runaway' (\(daemon.path("plugins/runaway.so"))) tried something that a "
                        + "worker may not do"
                ),
            ] {
                try daemon.drop(as: "\(inbox).png", inbox: "inbox/\(inbox)")
                let id = try await daemon.job("\(inbox).png", becomes: "failed")
                let story = try await daemon.pipectl("show", "\(id)")
                #expect(story.output.contains(error), "\(story.output)")
                // The daemon does not try such a job again in another worker.
                #expect(try daemon.call(Call.Show(id: id)).story.tries == 1)
                #expect(daemon.files(in: "outbox/\(inbox)") == [])
            }
            #expect(!daemon.log.contains("confined in part"))
            try daemon.drop(as: "good.png")
            try await daemon.job("good.png", becomes: "done")
            await daemon.stop()
            for inbox in ["thief", "run"] { #expect(daemon.exists("failed/\(inbox)/\(inbox).png")) }
        }
    }

    @Test(
        "a feature that the kernel lacks is logged once, and the other confinement still works",
        arguments: [
            (
                call: "landlock_create_ruleset", error: "ENOSYS", wall: "Landlock",
                theft: "confinement: the filter 'thief'"
            ),
            (call: "seccomp", error: "EINVAL", wall: "seccomp", theft: "thief: Permission denied"),
        ])
    func best(call: String, error: String, wall: String, theft: String) async throws {
        let recipe = "[Recipe]\nInbox=thief\n[Output]\nChain=thief path=/etc/passwd\n"
        let files = ["etc/recipes.d/thief.recipe": recipe, "etc/pipelined.conf": "[Daemon]\nWorkerJobs=1\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            try await Self.compileThief(daemon)
            try await daemon.start(under: Self.without(call, error))
            for name in ["one.png", "two.png"] {
                try daemon.drop(as: name)
                try await daemon.job(name, becomes: "done")
            }
            try daemon.drop(as: "three.png", inbox: "inbox/thief")
            let id = try await daemon.job("three.png", becomes: "failed")
            #expect(try daemon.call(Call.Show(id: id)).story.job.error?.hasPrefix(theft) == true)
            let shortcoming = "workers are confined in part: there is no \(wall) ("
            try await daemon.says(shortcoming)
            #expect(daemon.log.components(separatedBy: shortcoming).count == 2, "said once")
            // With the new setting, the daemon would refuse to start. The running daemon keeps its weaker confinement,
            // and continues to render pictures.
            try daemon.write("[Daemon]\nSandbox=required\n", to: "etc/pipelined.conf")
            #expect(try await daemon.pipectl("reload").status == 1)
            try daemon.drop(as: "four.png")
            try await daemon.job("four.png", becomes: "done")
        }
    }

    @Test(
        "in a container that forbids a part of the confinement, the log says what its profile must allow",
        arguments: [
            ("landlock_create_ruleset", "allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self"),
            ("seccomp", "allow the calls seccomp and prctl"),
        ])
    func inAContainer(call: String, advice: String) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: Self.without(call, "EPERM"))
            try await daemon.says("container's seccomp profile refuses it; \(advice)")
        }
    }

    @Test(
        "a watermark is drawn even if the font folder has a link that leads out of it",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func linkedFonts() async throws {
        let recipe = "[Recipe]\nInbox=marked\n[Output]\nChain=watermark text=Ada | save format=png\n"
        let files = ["etc/recipes.d/marked.recipe": recipe, "fonts/readme": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            // The mount is visible only to the daemon and its workers.
            let script = """
                mount -t tmpfs fonts /usr/local/share
                mkdir /usr/local/share/fonts
                ln -s \(daemon.path("fonts")) /usr/local/share/fonts/elsewhere
                exec "$@"
                """
            try await daemon.start(under: ["/usr/bin/unshare", "--mount", "/bin/sh", "-ec", script, "sh"])
            try daemon.drop(as: "one.png", inbox: "inbox/marked")
            #expect(try await daemon.waitForAll().map { $0.error ?? $0.state } == ["done"])
        }
    }

    @Test("with Sandbox=required the daemon and --check refuse a kernel that lacks a part, and name it")
    func required() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Daemon]\nSandbox=required\n"]) { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "done")
            await daemon.stop()
            for (call, error, wall) in [
                ("landlock_create_ruleset", "EOPNOTSUPP", "Landlock"), ("seccomp", "EINVAL", "seccomp"),
            ] {
                for check in [[], ["--check"]] {
                    let command =
                        Self.without(call, error) + [Programs.path("pipelined"), "--root", daemon.root.path] + check
                    let outcome = try await Programs.run(path: command[0], Array(command.dropFirst()))
                    #expect(outcome.status == 78)
                    #expect(
                        outcome.errors.contains(
                            "pipelined.conf: Sandbox=required, but workers can't be confined here: \(wall) ("),
                        "\(outcome.errors)")
                    #expect(outcome.errors.contains("write Sandbox=best in [Daemon]"))
                }
            }
        }
    }

    @Test("with Sandbox=required a worker that is less confined than the earlier ones gets no picture")
    func spoiled() async throws {
        let files = ["etc/pipelined.conf": "[Daemon]\nSandbox=required\nWorkerJobs=1\n"]
        try await DaemonFixture.with(files) { daemon in
            // Each worker that starts from now on finds this file beside the copied plugins, and loads it. The file
            // starts a thread, which Landlock does not restrict.
            let thread = daemon.path("state/plugins/1/thread.so")
            try CuriousPlugin.compile(CuriousPlugin.thread, to: thread)
            _ = try daemon.call(Call.Pause(queue: "render"))
            for number in 1...8 { try daemon.drop(as: "\(number).png") }
            try await daemon.job("8.png", becomes: "queued")
            _ = try daemon.call(Call.Resume())
            try await daemon.says(
                "a render worker is not confined, which Sandbox=required asks for: Landlock (2 threads")
            #expect(try daemon.list(["done"]).count < 8)
            try FileManager.default.removeItem(atPath: thread)
            #expect(try await daemon.waitForAll().allSatisfy { $0.state == "done" })
        }
    }

    @Test("MaxResult holds to the byte, and a reload changes it")
    func maxResult() async throws {
        try await DaemonFixture.with { daemon in
            let picture = Picture.png(width: 400, height: 300)
            try daemon.drop(picture, as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            let size = try daemon.data("outbox/noir/a.jpg").count
            for (name, limit, state) in [("b.png", size, "done"), ("c.png", size - 1, "failed")] {
                try daemon.write("[Daemon]\nMaxResult=\(limit)\n", to: "etc/pipelined.conf")
                #expect(try await daemon.pipectl("reload").status == 0)
                try daemon.drop(picture, as: name)
                let id = try await daemon.job(name, becomes: state)
                let error = try daemon.call(Call.Show(id: id)).story.job.error
                #expect(error == (state == "done" ? nil : "save: the result grows larger than MaxResult allows"))
            }
            #expect(daemon.files(in: "outbox/noir") == ["a.jpg", "b.jpg"])
        }
    }

    private static func compileThief(_ daemon: DaemonFixture) async throws {
        let thief = CuriousPlugin.filter("thief", "return open(path, O_RDONLY) < 0 ? -1 : 0;")
        try CuriousPlugin.compile(thief, to: daemon.path("plugins/thief.so"))
    }

    /// Returns a wrapper that makes a system call fail for the daemon and its workers. With `-D`, strace runs as a
    /// grandchild, so the daemon keeps its process ID.
    private static func without(_ call: String, _ error: String) -> [String] {
        [
            "/usr/bin/strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
            "inject=\(call):error=\(error)",
        ]
    }
}
