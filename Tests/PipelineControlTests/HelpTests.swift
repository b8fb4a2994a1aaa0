import Foundation
import TestTools
import Testing

@testable import pipectl

struct HelpTests {
    @Test("help lists every verb with its summary, every option and every exit code")
    func overview() async throws {
        let outcome = try await Pipectl.run("help")
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        for verb in Verb.all {
            #expect(
                outcome.lines.contains {
                    $0.hasPrefix("    \(verb.name)\(verb.alias.map { ", \($0)" } ?? "") ") && $0.hasSuffix(verb.summary)
                })
        }
        for option in Option.everywhere { #expect(outcome.output.contains(option.written)) }
        for code in ExitCode.allCases { #expect(outcome.output.contains(code.meaning)) }
    }

    @Test("Every verb has a page, the same by help and by --help", arguments: Verb.all.map(\.name))
    func pages(name: String) async throws {
        let page = try await Pipectl.run("help", name)
        #expect(page.status == 0)
        #expect(page.output.contains("usage: pipectl \(name)"))
        #expect(try await Pipectl.run(name, "--help").output == page.output)
    }

    @Test("Every verb's words are on its page, and its examples belong to it")
    func complete() throws {
        for verb in Verb.all {
            let page = Manual.page(verb).map { $0.rendered(color: false) }.joined(separator: "\n")
            for option in verb.options {
                #expect(page.contains(option.written))
                #expect(verb.usage.contains(option.name), "\(verb.name)'s usage leaves out \(option.name)")
            }
            for argument in verb.arguments { #expect(page.contains(argument.help)) }
            for example in verb.examples { #expect(example.command.hasPrefix("pipectl")) }
            #expect(!verb.summary.isEmpty && verb.summary.count <= 70)
        }
    }

    @Test("Lines of help fit into 110 columns")
    func width() {
        let pages = Verb.all.flatMap { Manual.page($0) } + Manual.overview()
        for line in pages { #expect(line.columns <= 110, "\(line.rendered(color: false))") }
    }

    @Test("help --json is the table itself")
    func document() async throws {
        let document = try await Pipectl.run("help", "--json").document()
        let verbs = try #require(document["verbs"] as? [[String: Any]])
        #expect(verbs.compactMap { $0["name"] as? String } == Verb.all.map(\.name))
        #expect(try await Pipectl.run("help", "list", "--json").document()["name"] as? String == "list")
    }

    @Test(
        "A mistyped word gets a suggestion",
        arguments: [
            (["staus"], "unknown verb 'staus'; did you mean 'status'?"),
            (["recip"], "unknown verb 'recip'; did you mean 'recipes'?"),
            (["cancle", "1"], "unknown verb 'cancle'; did you mean 'cancel'?"),
            (["list", "--stat", "done"], "unknown option '--stat' for list; did you mean '--state'?"),
            (["list", "--jsno"], "unknown option '--jsno' for list; did you mean '--json'?"),
            (["list", "--state", "runing"], "there is no state 'runing'; did you mean 'running'?"),
            (["help", "wach"], "unknown verb 'wach'; did you mean 'watch'?"),
            (["list", "--color", "nevr"], "--color is one of auto, always, never, not 'nevr'; did you mean 'never'?"),
            (["priority", "1", "hihg"], "'hihg' is not a priority: write low, normal or high; did you mean 'high'?"),
            (
                ["add", "a.cr2", "--chain", "x", "--raw", "devlop"],
                "--raw takes preview or develop, not 'devlop'; did you mean 'develop'?"
            ),
            (["recipes", "nwe", "shop"], "unexpected 'nwe'; did you mean 'new'?"),
            (
                ["recipes", "new", "shop", "--from", "sqare"],
                "--from is one of web, archive, square, print, noir, not 'sqare'; did you mean 'square'?"
            ),
            (["plugins", "chekc", "./glow.so"], "unexpected 'chekc'; did you mean 'check'?"),
        ])
    func suggestions(words: [String], message: String) throws {
        let failure = #expect(throws: Failure.self) {
            let context = try Context(Parser.parse(words))
            _ = try context.invocation.verb.run(context)
        }
        #expect(failure?.code == .usage)
        #expect(failure?.message.hasPrefix(message) == true)
    }

    @Test(
        "A mistaken command names the one that is meant",
        arguments: [
            (["explain", "3000"], "`pipectl show 3000` shows the story of job 3000"),
            (["concurrency", "download"], "pipectl concurrency download 4"),
            (["concurrency", "4", "publish"], "pipectl concurrency publish 4"),
            (
                ["retry", "failed"],
                "is not a job's ID: IDs are numbers, as shown by `pipectl list`; did you mean '--failed'?"
            ),
            (["list", "failed"], "unexpected 'failed'; did you mean '--failed'?"),
            (["list", "--state", "dun"], "there is no state 'dun'; did you mean 'done'?"),
            (["show", "beach.jpg"], "`pipectl explain beach.jpg` names the job of a file"),
            (["concurrency", "uato"], "or auto; did you mean 'auto'?"),
            (["--root", "/nowhere", "gallery"], "`pipelined-gallery --root /nowhere --listen 127.0.0.1:8080`"),
            (["--socket", "/no/control.sock", "gallery"], "`pipelined-gallery --socket /no/control.sock --listen"),
        ])
    func meant(words: [String], command: String) async throws {
        let outcome = try await Pipectl.run(words)
        #expect(outcome.status == (words.last == "gallery" ? 3 : 2))
        #expect(outcome.errors.contains(command), "\(outcome.errors)")
    }

    @Test("A word of the command line that is not UTF-8 is refused, and shown with escapes")
    func misnamed() async throws {
        let script = #"exec "$0" --root /nowhere add "$(printf 'a\377b.jpg')""#
        let outcome = await (try ChildProcess("/bin/sh", ["-c", script, Pipectl.program])).outcome()
        #expect(outcome.status == 2 && outcome.errors == "pipectl: a\\xffb.jpg is not UTF-8; rename it\n")
    }

    @Test("Invalid usage exits with 2, and prints nothing on standard output")
    func usage() async throws {
        for words in [
            ["show"], ["show", "1", "2"], ["cancel", "x"], ["status", "--color", "blue"], ["list", "--state"],
        ] {
            let failure = #expect(throws: Failure.self) {
                let context = try Context(Parser.parse(words))
                _ = try context.invocation.verb.run(context)
            }
            #expect(failure?.code == .usage)
        }
        let outcome = try await Pipectl.run("retry", "--json")
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix(#"{"error":"Usage","message":"retry needs"#))
    }

    @Test("Options may stand anywhere, with = or without, and end at --")
    func grammar() throws {
        let invocation = try Parser.parse([
            "--json", "add", "--socket=/x", "a.jpg", "--recipe", "noir", "--", "--b.jpg",
        ])
        #expect(invocation.verb.name == "add")
        #expect(invocation.arguments == ["a.jpg", "--b.jpg"])
        #expect(invocation.has(.json))
        #expect(invocation.value(.socket) == "/x")
        #expect(try Parser.parse(["cancel", "--help"]).verb.name == "help")
        #expect(try Parser.parse(["--version"]).verb.name == "version")
    }
}
