import PipelineControl
import TestTools
import Testing

@testable import pipectl

@Suite("Completion")
struct CompletionTests {
    private let daemon: CannedDaemon

    init() throws {
        daemon = try CannedDaemon()
        let jobs = [Sample.job(11, "failed"), Sample.job(12, "queued", input: "beach.jpg")]
        daemon.on(Call.List.self) { call, conversation in
            try conversation.reply(
                Call.List.Reply(jobs: jobs.filter { call.states.isEmpty || call.states.contains($0.state) }))
        }
        daemon.answer(Call.Recipes.self, .init(recipes: [Sample.recipe], folder: "/etc/pipelined/recipes.d"))
        daemon.answer(Call.Plugins.self, .init(stages: [Sample.stage], skipped: []))
        daemon.answer(Call.Concurrency.self, .init(queues: Sample.queues))
    }

    private func candidates(_ words: String...) -> [Candidate] { candidates(words) }

    private func candidates(_ words: [String]) -> [Candidate] {
        let address = SocketAddress(socket: daemon.path, root: nil, variable: nil)
        return Completion(CommandDraft(words), LiveWords(address: address)).candidates
    }

    private func words(_ words: String...) -> [String] { candidates(words).map(\.word) }

    @Test("Every verb has its summary, and every option its help")
    func tables() {
        #expect(candidates("") == Verb.all.map { Candidate($0.name, $0.summary) })
        #expect(candidates("help", "") == candidates(""))
        for verb in Verb.all {
            #expect(candidates(String(verb.name.dropLast())).contains(Candidate(verb.name, verb.summary)))
            let options = candidates(verb.name, "-")
            #expect(options == (verb.options + Option.everywhere).map { Candidate($0.name, $0.help) }, "\(verb.name)")
        }
    }

    @Test("Every word named like this can be completed")
    func kinds() {
        let named = [
            "RECIPE", "CHAIN", "FILE", "QUEUE", "ID", "STATE", "LEVEL", "PATH", "DIR", "WHEN", "LANGUAGE", "VERB",
        ]
        func expect(_ kinds: [WordKind], _ name: String, _ verb: String) {
            let isNamed = name.split(whereSeparator: { !$0.isLetter }).contains { named.contains(String($0)) }
            #expect(!isNamed || !kinds.isEmpty, "\(verb) \(name)")
        }
        for verb in Verb.all {
            for option in verb.options + Option.everywhere { expect(option.kinds, option.value ?? "", option.name) }
            for argument in verb.arguments { expect(argument.kinds, argument.name, verb.name) }
        }
    }

    @Test("Jobs that suit the verb are offered, newest first, with a description")
    func jobs() {
        #expect(candidates("show", "") == [Candidate("12", "queued beach.jpg"), Candidate("11", "failed harbour.jpg")])
        #expect(words("cancel", "1") == ["12"])
        #expect(words("retry", "") == ["11"])
        #expect(words("show", "2") == [])
        // Job 12 is already on the command line, so it is not offered again.
        #expect(words("wait", "12", "1") == [])
    }

    @Test("Recipes, queues, stages and files are offered where they fit")
    func kindsOfWords() {
        #expect(candidates("list", "--recipe", "n") == [Candidate("noir", "Half size, black and white")])
        #expect(words("list", "--recipe=") == ["--recipe=noir"])
        #expect(words("pause", "r") == ["render"])
        #expect(words("concurrency", "") == ["publish", "render", "auto"])
        #expect(words("concurrency", "render", "") == ["auto"])
        #expect(words("plugins", "show", "") == ["noir"])
        #expect(words("plugins", "try", "") == [":files"] && words("plugins", "check", "a.so", "") == [":files"])
        #expect(words("add", "x") == [":files"])
        #expect(words("--root", "x") == [":folders"])
        #expect(words("--root=x") == [":folders"])
        #expect(words("priority", "12", "h") == ["high"])
        #expect(words("status", "--color", "a") == ["auto", "always"])
    }

    @Test("The last item of a comma-separated list is completed, without duplicates")
    func lists() {
        #expect(words("list", "--state", "queued,r") == ["queued,running"])
        #expect(words("depend", "3", "--after", "12,") == [])
        #expect(words("depend", "3", "--after", "7,1") == ["7,12"])
        #expect(words("add", "x.jpg", "--after", "7", "") == ["12", ":files"])
    }

    @Test("A chain is completed with stages, their parameters and the parameters' values")
    func chains() {
        func chain(_ text: String) -> [String] { words("add", "x.jpg", "--chain", text) }
        #expect(chain("") == ["noir"])
        #expect(chain("noir | n") == ["noir | noir"])
        #expect(chain("noir|n") == ["noir|noir"])
        #expect(chain("noir | noir c") == ["noir | noir contrast="])
        #expect(chain("noir contrast=0.5 ") == ["noir contrast=0.5 contrast="])
        #expect(chain("nior c") == [])
        var stage = Sample.stage
        stage.parameters[0].choices = ["soft", "hard"]
        stage.parameters[0].type = "choice"
        daemon.answer(Call.Plugins.self, .init(stages: [stage], skipped: []))
        #expect(chain("noir contrast=s") == ["noir contrast=soft"])
        stage.parameters[0].type = "boolean"
        daemon.answer(Call.Plugins.self, .init(stages: [stage], skipped: []))
        #expect(words("explain", "noir contrast=y") == [":files", "noir contrast=yes"])
    }

    @Test("Options are offered where nothing else fits; a flag only once, and none after --")
    func options() {
        #expect(words("reload", "").contains("--json"))
        #expect(!words("list", "--long", "--l").contains("--long"))
        #expect(words("list", "--", "--l") == [])
        #expect(words("nosuch", "") == [])
        #expect(words("list", "--nosuch=") == [])
    }

    @Test("The verb asks the daemon named in the line, and prints a word, a tab and its help")
    func verb() async throws {
        let outcome = try await Pipectl.run("complete", "--", "--root", daemon.root, "list", "--recipe", "")
        #expect(outcome.output == "noir\tHalf size, black and white\n")
        let json = try await Pipectl.run("complete", "--json", "--", "resu").document() as? [String: String]
        #expect(json == ["word": "resume", "help": "continue after a pause"])
    }

    @Test("A recipe's name can neither control the shell's terminal nor count as two words")
    func hostile() async throws {
        var recipe = Sample.recipe
        recipe.name = "a\u{1b}[2J\nb\tc"
        daemon.answer(Call.Recipes.self, .init(recipes: [recipe], folder: "/etc/pipelined/recipes.d"))
        let outcome = try await Pipectl.run("complete", "--", "list", "--recipe", "", at: daemon)
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.unicodeScalars.filter { $0.value < 32 }.map(\.value) == [9, 10])
    }

    @Test("Without a daemon, or with a silent one, there are no candidates")
    func silence() async throws {
        let nobody = try await Pipectl.run("complete", "--", "--socket", "/nowhere", "show", "1")
        #expect(nobody.status == 0 && nobody.output.isEmpty && nobody.errors.isEmpty)
        let gate = Gate()
        daemon.on(Call.List.self) { _, _ in gate.wait() }
        let silent = try await Pipectl.run("complete", "--", "show", "", at: daemon)
        gate.open()
        #expect(silent.status == 0 && silent.output.isEmpty && silent.errors.isEmpty)
    }
}
