import Foundation
import PipelineControl
import TestTools
import Testing

/// Shell completion of `pipectl`, tested with a real daemon.
@Suite("Completion in a shell")
struct CompletionTests {
    private static let scripts = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../packaging/completions").standardized.path

    private static let recipe = """
        [Recipe]
        Description=For the web: small
        Inbox=web
        [Output]
        Chain=resize width=16 | save
        """

    /// Runs `body` with job 1, which has failed, and with one batch of two held jobs.
    private func withJobs(_ body: (DaemonFixture) async throws -> Void) async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.recipe]) { daemon in
            try daemon.drop(Data("no picture".utf8), as: "broken.jpg")
            try await daemon.waitForAll()
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            for name in ["beach.png", "harbour.png"] { try daemon.write(Picture.small, to: "mine/\(name)") }
            let added = try await daemon.pipectl("add", daemon.path("mine/beach.png"), daemon.path("mine/harbour.png"))
            try #require(added.status == 0, "\(added.errors)")
            try await body(daemon)
        }
    }

    @Test("Jobs, batches, recipes, queues, filters and their parameters come from the daemon")
    func live() async throws {
        try await withJobs { daemon in
            func complete(_ words: String...) async throws -> [String] {
                let outcome = try await Programs.run("pipectl", ["complete", "--", "--root", daemon.root.path] + words)
                #expect(outcome.status == 0 && outcome.errors.isEmpty)
                return outcome.lines
            }
            #expect(try await complete("retry", "") == ["1\tfailed broken.jpg"])
            #expect(try await complete("cancel", "") == ["3\tqueued harbour.png", "2\tqueued beach.png"])
            #expect(try await complete("watch", "--batch", "") == ["1\t2 queued"])
            #expect(try await complete("add", "x.jpg", "--recipe", "w") == ["web\tFor the web: small"])
            let queues = try await complete("pause", "").map { $0.prefix { $0 != "\t" } }
            #expect(queues == ["announce", "download", "publish", "render"])

            let stages = try daemon.call(Call.Plugins()).stages
            let offered = try await complete("plugins", "show", "")
            #expect(Set(offered) == Set(stages.map { "\($0.name)\t\($0.summary)" }))
            for stage in stages {
                let parameters = try await complete("explain", "resize scale=0.5 | \(stage.name) ")
                let wanted = stage.parameters.map { "resize scale=0.5 | \(stage.name) \($0.name)=\t\($0.help)" }
                #expect(parameters.filter { !$0.hasPrefix(":") } == wanted)
            }
        }
    }

    /// Returns bash's completions of the last word. The caller splits the line into words as bash does.
    private func bash(_ daemon: DaemonFixture, _ words: String...) async throws -> [String] {
        let driver = """
            source \(Self.scripts)/pipectl.bash
            compopt() { :; }  # only works while Tab is served
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _pipectl pipectl
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        return try await run(daemon, ["bash", "--norc", "-c", driver, "bash", "pipectl"] + words)
    }

    /// Returns zsh's candidates for the last word, unfiltered. zsh itself would filter them.
    private func zsh(_ daemon: DaemonFixture, _ words: String...) async throws -> [String] {
        let driver = """
            words=("$@") CURRENT=$# PREFIX=$@[-1]
            _describe() { print -rl -- $candidates "suffix '$@[-1]'" }
            _files() { print -r -- files $@ }
            compset() { print -r -- $@ }
            set --
            source \(Self.scripts)/_pipectl
            """
        return try await run(daemon, ["zsh", "-f", "-c", driver, "zsh", "pipectl"] + words)
    }

    /// Returns fish's completions of the line.
    private func fish(_ daemon: DaemonFixture, _ line: String) async throws -> [String] {
        try await run(
            daemon,
            ["fish", "--no-config", "-c", "source \(Self.scripts)/pipectl.fish; complete -C $argv[1]", line])
    }

    private func run(_ daemon: DaemonFixture, _ command: [String]) async throws -> [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let outcome = try await Programs.run(
            path: "/usr/bin/env", ["-C", daemon.root.path] + command,
            environment: [
                "PATH": "\(Programs.folder.path):\(path)", "PIPELINED_SOCKET": daemon.path("run/control.sock"),
                "HOME": daemon.root.path,
            ])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        return outcome.lines
    }

    @Test("bash offers verbs, options, live names and files, also after = and in quotes")
    func inBash() async throws {
        try await withJobs { daemon in
            try daemon.write(Picture.small, to: "my pictures/dune.png")
            #expect(try await bash(daemon, "canc") == ["cancel", "cancel-all"])
            #expect(try await bash(daemon, "add", "--chai") == ["--chain"])
            #expect(try await bash(daemon, "cancel", "") == ["3", "2"])
            #expect(try await bash(daemon, "cancel", "--state", "queued,ru") == ["queued,running"])
            // bash splits `--recipe=w` into three words.
            #expect(try await bash(daemon, "list", "--recipe", "=", "w") == ["web"])
            #expect(try await bash(daemon, "list", "--recipe", "=") == ["noir", "web"])
            #expect(try await bash(daemon, "add", "mine/") == ["mine/beach.png", "mine/harbour.png"])
            #expect(try await bash(daemon, "add", "my\\ pictures/d") == ["my pictures/dune.png"])
            #expect(try await bash(daemon, "--root", "=", "out") == ["outbox"])
            #expect(
                try await bash(daemon, "add", "x.png", "--chain", "'resize width=9 | noi") == ["resize width=9 | noir"])
            #expect(try await bash(daemon, "--root", "'\(daemon.root.path)'", "wait", "2", "") == ["3"])
        }
    }

    @Test("fish offers the same, with descriptions")
    func inFish() async throws {
        try await withJobs { daemon in
            #expect(try await fish(daemon, "pipectl resu") == ["resume\tcontinue after a pause"])
            #expect(try await fish(daemon, "pipectl retry ") == ["1\tfailed broken.jpg"])
            #expect(try await fish(daemon, "pipectl list --recipe=w") == ["--recipe=web\tFor the web: small"])
            #expect(try await fish(daemon, "pipectl add mine/h") == ["mine/harbour.png"])
            #expect(
                try await fish(daemon, "pipectl --root=outb").map { $0.prefix { $0 != "\t" } } == ["--root=outbox/"])
            let chain = try await fish(daemon, "pipectl explain 'resize width=9 | noi").map { $0.prefix { $0 != "\t" } }
            #expect(chain == ["resize width=9 | noir"])
        }
    }

    @Test("zsh offers the same, with a space after complete words")
    func inZsh() async throws {
        try await withJobs { daemon in
            #expect(try await zsh(daemon, "resu") == ["resume:continue after a pause", "suffix ' '"])
            #expect(try await zsh(daemon, "retry", "") == ["1:failed broken.jpg", "suffix ' '"])
            // A colon separates the word from its description.
            let recipe = try await zsh(daemon, "list", "--recipe=w")
            #expect(recipe == ["--recipe=web:For the web: small", "suffix ' '"])
            let stage = try await zsh(daemon, "add", "x.png", "--chain", "resize\\ sca")
            #expect(stage.first?.hasPrefix("resize scale=:factor") == true)
            #expect(stage.last == "suffix ''")
            #expect(try await zsh(daemon, "add", "") == ["files"])
            #expect(try await zsh(daemon, "--root=x") == ["-P 1 *=", "files -/"])
        }
    }

    @Test("A word with characters that are special in bash is quoted")
    func quoting() async throws {
        let files = ["etc/recipes.d/for $(the) web.recipe": Self.recipe]
        try await DaemonFixture.with(files) { daemon in
            let offered = try await bash(daemon, "list", "--recipe", "f")
            #expect(offered == [#"for\ \$\(the\)\ web"#])
        }
    }

    @Test("Completions are installed where the shells look for them")
    func installed() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let install = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../packaging/install.sh")
            let outcome = try await Programs.run(
                path: "/bin/bash", [install.standardized.path, Programs.folder.path, daemon.path("prefix")])
            #expect(outcome.status == 0, "\(outcome.errors)")
            for file in [
                "bash-completion/completions/pipectl", "zsh/site-functions/_pipectl",
                "fish/vendor_completions.d/pipectl.fish",
            ] {
                #expect(daemon.exists("prefix/share/\(file)"), "\(file)")
            }
        }
    }
}
