import Glibc
package import JobLedger
package import PictureFiles
import ServiceProgram
import SystemCalls

/// Opens the ledger's file. If an earlier ledger is lost or damaged, starts a new ledger, keeps the damaged file beside
/// the new file, and writes a note that explains the loss. The status repeats the first line of the note until a user
/// removes the note.
package enum LedgerFile {
    package static func open(_ places: Places) throws -> Ledger {
        let hadLedger = try hadLedger(places)
        if hadLedger, try isEmpty(places) { try setAside(places) }
        do {
            return try Ledger(path: places.ledger) {
                // This closure also runs for a file that has only a header. The rows of such a ledger were in its
                // write-ahead log, which is lost.
                if hadLedger { try writeNote("the ledger \(places.ledger) is missing or empty", places) }
            }
        } catch let error as LedgerError where error.isDamage {
            try setAside(places)
            return try Ledger(path: places.ledger) { try writeNote("the ledger is damaged: \(error.message)", places) }
        }
    }

    /// Returns the first line of the note about a lost ledger; nil if no ledger was lost, or if a user has removed the
    /// note.
    package static func note(_ places: Places) -> String? {
        guard let file = try? Descriptor.open(places.ledgerNote, O_RDONLY | O_NOFOLLOW),
            let bytes = try? FileSystem.read(file, most: 4096, called: places.ledgerNote)
        else { return nil }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return "\(line); \(places.ledgerNote) says what to do; remove it then"
    }

    /// Returns the note about a lost ledger, or the reason why the next start would begin a new ledger; nil if neither
    /// exists.
    package static func complaint(_ places: Places) -> String? {
        if let note = note(places) { return note }
        return loss(places).map { "\($0); a start begins a new one, and keeps what is left of the old one" }
    }

    /// Returns a description of the problem if an earlier ledger is missing or empty; nil otherwise.
    package static func loss(_ places: Places) -> String? {
        guard (try? hadLedger(places)) == true, (try? isEmpty(places)) == true else { return nil }
        return "the ledger \(places.ledger) is missing or empty"
    }

    /// Whether an earlier start has opened a ledger. Each start writes the file `place` after it has opened the ledger.
    private static func hadLedger(_ places: Places) throws -> Bool { try FileSystem.exists(places.place) }

    private static func isEmpty(_ places: Places) throws -> Bool {
        try FileSystem.status(places.ledger)?.size ?? 0 == 0
    }

    /// Renames the remaining files of a lost or damaged ledger.
    private static func setAside(_ places: Places) throws {
        let time = Timestamp.dated(Timestamp.now()).replacing(" ", with: "-").replacing(":", with: "")
        for suffix in ["-wal", "-shm", ""] {
            guard let there = try FileSystem.status(places.ledger + suffix), there.size > 0 else { continue }
            try FileSystem.renameWithoutReplacing(
                places.ledger + suffix, "\(places.ledger)\(lost)\(time)\(suffix)")
        }
        try FileSystem.sync(places.state)
    }

    private static let lost = ".lost-"

    /// Returns the paths of the lost ledgers that `setAside` has kept.
    private static func lostLedgers(_ places: Places) throws -> [String] {
        let names = try FileSystem.names(in: places.state)
        let start = FileSystem.name(of: places.ledger) + lost
        let lost = names.filter { $0.hasPrefix(start) }.map { name in
            ["-wal", "-shm"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
        }
        return Set(lost).sorted().map { FileSystem.join(places.state, $0) }
    }

    /// Writes the note about a lost ledger before a new ledger exists: if this start is interrupted, the next start
    /// still detects the loss.
    private static func writeNote(_ what: String, _ places: Places) throws {
        let line = "\(what), and a new one is begun (\(Timestamp.dated(Timestamp.now())))"
        let lost = try lostLedgers(places)
        let remains =
            lost.isEmpty
            ? "Nothing is left of the old ledger."
            : "What is left of the old ledger is \(lost.joined(separator: ", "))."
        let text = """
            \(line)

            \(remains)
            Restore a backup of it if you have one: stop pipelined, put the backup in place of \(places.ledger), and start again.

            Without one, nothing is known of earlier jobs. Their results and originals stay where they are: archive/, failed/, cancelled/ and the
            outboxes are not touched. Pictures in progress are taken in again, and may come out a second time; so may all
            pictures of an inbox with Original=keep. Files that were added or downloaded, and not yet processed, lie in
            \(places.recovered)/added: drop them into an inbox.

            Remove this file when you have read it: `pipectl status` repeats its first line until then.

            """
        try FileSystem.write(Array(text.utf8), to: places.ledgerNote)
        Log.failure("\(line). \(remains) \(places.ledgerNote) says what to do")
    }
}
