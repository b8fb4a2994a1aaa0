import PipelineControl
import TestTools
import Testing

@testable import pipectl

@Suite("pipectl(1)")
struct ManualPageTests {
    @Test("The page has everything in the tables: verbs, arguments, options, examples, exit codes")
    func complete() async throws {
        let outcome = try await Pipectl.run("help", "--man")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let page = plainText(ofPage: outcome.output)
        func has(_ text: String) { #expect(page.contains(plainText(ofHelp: text)), "\(text)") }
        for option in Option.everywhere { has("\(option.written) \(option.help)") }
        for verb in Verb.all {
            has(".SS \(verb.name) pipectl \(verb.name) \(verb.usage)")
            has(String(verb.summary.dropFirst()))
            has(verb.discussion.joined(separator: " "))
            for argument in verb.arguments { has("\(argument.name) \(argument.help)") }
            for option in verb.options { has("\(option.written) \(option.help)") }
            for example in verb.examples { has("\(example.command) \(example.explanation)") }
        }
        for code in ExitCode.allCases { has("\(code.rawValue) \(code.meaning)") }
        has(SocketAddress.systemPath)
    }

    @Test("The page covers all verbs, and is never JSON")
    func alone() async throws {
        for words in [["help", "list", "--man"], ["help", "--man", "--json"]] {
            #expect(try await Pipectl.run(words).status == 2)
        }
    }
}
