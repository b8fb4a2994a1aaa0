import ManualPages
import PipelineModel
import ServiceProgram
import TestTools
import Testing

@testable import DaemonConfiguration
@testable import PictureFiles
@testable import PipelineDaemon

@Suite("The manual pages of pipelined")
struct ManualTests {
    private func text(_ manual: Manual) throws -> String {
        plainText(ofPage: try manual.page.roff(version: "1", date: "2026-03-01"))
    }

    @Test("pipelined(8) documents every option, exit status and place")
    func daemon() throws {
        let page = try text(.daemon)
        func has(_ text: String) { #expect(page.contains(plainText(ofHelp: text)), "\(text)") }
        for option in Arguments.Option.allCases { has("\(option.written) \(option.help)") }
        for status in ExitStatus.allCases { has("\(status.rawValue) \(status.meaning)") }
        for places in [Places.system, Places.laidOut(below: "DIR")] {
            for path in [places.mainConfiguration, places.recipes, places.socket, places.plugins[0]]
                + places.own.dropLast()
            {
                has(path)
            }
        }
    }

    @Test("The help has the same options and exit statuses")
    func help() {
        for option in Arguments.Option.allCases { #expect(Manual.help.contains(option.written)) }
        for option in Arguments.Option.allCases { #expect(Manual.help.contains(option.help)) }
        for status in ExitStatus.allCases { #expect(Manual.help.contains(status.meaning)) }
        #expect(Manual.help.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }

    @Test("pipelined.conf(5) documents every setting with its default, help and values")
    func settings() throws {
        let page = try text(.configuration)
        for row in Settings().rows {
            #expect(page.contains(".SH [\(row.section)]"))
            #expect(page.contains("\(row.key)=\(row.default) \(row.help)"), "\(row.key)")
            #expect(page.contains(row.values), "\(row.key)")
        }
    }

    @Test("--settings prints every setting as a comment, and is valid as it is and with the comment signs removed")
    func commentedSettings() {
        let text = CommentedSettings.text
        func load(_ text: String) -> (settings: Settings, problems: [String]) {
            let file = ConfigurationText(name: "a.conf", text: text)
            let (loaded, problems) = Configuration.load(settings: [file], recipes: [], catalog: .builtIn)
            return (loaded.settings, problems.map { "\($0)" }.filter { !$0.contains("noir") })
        }
        let asItIs = load(text)
        #expect(asItIs.problems == [])
        #expect(asItIs.settings.rows == Settings().rows)
        for row in Settings().rows + Settings.hostRows { #expect(text.contains("\n#\(row.key)=\(row.default)\n")) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 100 })
        let own = lines.prefix { !$0.hasPrefix("#[Host") }
        let without = load(own.map { $0.hasPrefix("# ") ? "" : String($0.drop { $0 == "#" }) }.joined(separator: "\n"))
        #expect(without.problems == [])
        #expect(without.settings.rows.map(\.value) == Settings().rows.map(\.value))
    }

    @Test("pipelined.recipe(5) documents every key of a recipe, and every stage with its parameters")
    func recipe() throws {
        let filter = StageDescription(
            name: "glow", summary: "brightens",
            parameters: [
                ParameterDescription(
                    name: "amount", type: .number, minimum: 0.5, maximum: 4, isRequired: true, unit: "%",
                    help: "how much")
            ], traits: [.curve])
        let page = plainText(ofPage: Manual.recipePage(filters: [filter]).roff(version: "1", date: "2026-03-01"))
        for row in Recipe.settings { #expect(page.contains("\(row.key)=\(row.default) \(row.help)"), "\(row.key)") }
        for stage in StageCatalog.builtIn.stages {
            #expect(page.contains(".SS \(stage.name) "))
            for parameter in stage.parameters {
                let value = parameter.defaultValue ?? ""
                let help = plainText(ofHelp: parameter.help)
                #expect(page.contains("\(parameter.name)=\(value) \(help) (\(parameter.values)"), "\(parameter.name)")
            }
        }
        #expect(page.contains(".SS glow Brightens. Traits: curve. amount= how much (0.5 to 4 %; must be given)"))
    }
}

struct ArgumentsTests {
    @Test("options are read with `=` or without")
    func reading() throws {
        #expect(try Arguments(["--root", "x", "--check"]).task == .check)
        #expect(try Arguments(["--give-back"]).task == .giveBack)
        #expect(try Arguments(["--root=x"]).root == "x")
        #expect(try Arguments(["--instance", "web"]).instance == "web")
        #expect(Places.instance("web").socket == "/run/pipelined@web/control.sock")
        for wrong in [["--instance", "../web"], ["--instance", ".."], ["--instance", "web", "--root", "x"]] {
            #expect(throws: UsageError.self) { try Arguments(wrong) }
        }
        #expect(try Arguments(["--man", "pipelined.conf"]).task == .manual(.configuration))
        #expect(try Arguments(["-h"]).task == .help)
        #expect(try Arguments([]).task == .run)
    }

    @Test(
        "invalid options are refused, with a pointer to the help",
        arguments: [
            (["--rot", "x"], "'--rot' is not known"), (["--root"], "--root wants a value: --root DIR"),
            (["--root="], "--root wants a value: --root DIR"), (["--check=yes"], "--check takes no value"),
            (["--man", "noir"], "there is no page 'noir'"), (["x"], "'x' is not known"),
        ])
    func complaints(words: [String], complaint: String) {
        let error = #expect(throws: UsageError.self) { try Arguments(words) }
        #expect(error?.description == "\(complaint); see `pipelined --help`")
    }
}
