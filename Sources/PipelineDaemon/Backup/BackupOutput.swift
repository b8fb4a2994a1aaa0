import Foundation
import Glibc
import SystemCalls

/// The result of a backup, as JSON or as text.
struct BackupReport: Encodable {
    var folder: String
    /// The data folder of the daemon.
    var of: String
    /// Number and size of all files in the backup, without the ledger's files.
    var all: Mirror.Amount
    var copied: Mirror.Amount
    /// Number of files and folders that were removed from the backup, because the daemon no longer has them.
    var removed: Int
    var jobs: Int
    /// Inboxes and outboxes that are not part of the backup.
    var elsewhere: [String]

    var lines: [String] {
        var lines = [
            "\(folder) is a complete backup of \(of): \(all.words), and a whole ledger of \(BackupOutput.counted(jobs, "job"))",
            "copied \(copied.words)",
        ]
        if removed > 0 {
            lines.append("removed \(BackupOutput.counted(removed, "file")) that the daemon no longer has")
        }
        if !elsewhere.isEmpty {
            lines.append("not in it, because they lie elsewhere: \(elsewhere.joined(separator: ", "))")
        }
        return lines
    }
}

/// Writes the report to standard output, and errors to standard error. If standard error is a terminal, it also shows
/// the progress. `pipectl backup` replaces itself with this process, so errors start with `pipectl:`.
final class BackupOutput {
    private let json: Bool
    private let showsProgress: Bool
    private var shown = ContinuousClock.now
    /// The amount that will be copied.
    var total = Mirror.Amount()

    init(json: Bool) {
        self.json = json
        showsProgress = !json && Terminal.isTerminal(STDERR_FILENO)
    }

    func showProgress(_ mirror: Mirror) {
        guard showsProgress, shown.duration(to: .now) > .milliseconds(200) else { return }
        shown = .now
        let (copied, total) = (mirror.copied, self.total)
        put(
            "\rcopied \(copied.files) of \(total.files) files, \(Self.bytes(copied.bytes)) of \(Self.bytes(total.bytes))\u{1b}[K"
        )
    }

    func report(_ report: BackupReport) throws {
        clear()
        guard json else { return print(report.lines.map(\.printable).joined(separator: "\n")) }
        print(String(decoding: try Self.encoder([.prettyPrinted]).encode(report), as: UTF8.self))
    }

    func refuse(_ error: BackupError) {
        clear()
        let answer = ["error": error.name, "message": error.description]
        if json, let data = try? Self.encoder([]).encode(answer) {
            return put(String(decoding: data, as: UTF8.self) + "\n")
        }
        let lines = error.description.split(separator: "\n").map { String($0).printable }
        put("pipectl: " + lines.joined(separator: "\n") + "\n")
    }

    private static func encoder(_ formatting: JSONEncoder.OutputFormatting) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        return encoder
    }

    private func clear() { if showsProgress { put("\r\u{1b}[K") } }

    private func put(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    static func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    static func bytes(_ count: Int64) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1000, unit + 1 < units.count { (value, unit) = (value / 1000, unit + 1) }
        return unit == 0 ? "\(count) B" : String(format: "%.1f %@", value, units[unit])
    }
}

extension Mirror.Amount {
    fileprivate var words: String { "\(BackupOutput.counted(files, "file")), \(BackupOutput.bytes(bytes))" }
}
