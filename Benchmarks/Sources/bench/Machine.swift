import Foundation

/// The hardware and software used for the measurements.
struct Machine {
    var lines: [String]

    init(_ setup: Setup) throws {
        func first(_ words: [String]) throws -> String {
            try ChildProcess.output(words).split(separator: "\n").first.map(String.init) ?? ""
        }
        let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
            .first { $0.hasPrefix("model name") }?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
        let magick = try first(["convert", "-version"]).split(separator: " ").dropFirst().prefix(2)
        let graphics = try first(["gm", "-version"]).split(separator: " ").prefix(2)
        lines =
            [
                "\(Setup.processors) processors, \(processor ?? "of an unknown model"); Linux \(try first(["uname", "-r"]))",
                try first(["vips", "--version"]), "floor: libjpeg-turbo \(try first([setup.floor, "version"]))",
            ]
            + (try ChildProcess.output([setup.python, "\(setup.peers)/peer.py", "versions"])).split(separator: "\n")
            .map(String.init) + [magick.joined(separator: " "), graphics.joined(separator: " ")]
    }
}
