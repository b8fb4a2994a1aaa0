import DaemonConfiguration
import Foundation
import ManualPages
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

/// The manual pages that this program prints. They are generated from the tables of settings, stages and options.
enum Manual: String, CaseIterable {
    case daemon = "pipelined"
    case configuration = "pipelined.conf"
    case recipe = "pipelined.recipe"

    static let purpose = "turns pictures dropped into a folder into the results of a recipe"

    static let usage = "[--root DIR] [--check | --give-back | --backup DIR]"

    var page: ManualPage {
        get throws {
            switch self {
            case .daemon: Self.daemonPage
            case .configuration: Self.configurationPage
            case .recipe: Self.recipePage(filters: try Self.ownFilters())
            }
        }
    }

    static var help: String {
        let statuses = ExitStatus.allCases.map {
            "  \("\($0.rawValue)".padding(toLength: 5, withPad: " ", startingAt: 0))\($0.meaning)"
        }
        return """
            pipelined: \(purpose).

            Usage: pipelined \(usage)

            \(Arguments.Option.lines)

            Without --root the system's places are used: /etc/pipelined, /var/lib/pipelined and
            /run/pipelined. Control it with pipectl; `pipectl help` says how. The log is standard error;
            with Log=operations in [Daemon] it has each step of each operation, too.

            Exit codes:

            \(statuses.joined(separator: "\n"))
            """
    }

    func print() throws {
        FileHandle.standardOutput.write(Data(try page.roff(version: Release.version, date: Release.date).utf8))
    }

    /// The filters that come with this program, regardless of the machine's plugin folders.
    private static func ownFilters() throws -> [StageDescription] {
        let copies = FileManager.default.temporaryDirectory.appendingPathComponent("pipelined-man-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: copies) }
        let (_, hello, _) = try Daemon.startPool(
            with: PluginGenerations(folder: copies, sources: [Places.ownPlugins]), within: PluginSettings().timeout)
        return hello.filters.sorted { $0.name < $1.name }
    }
}
