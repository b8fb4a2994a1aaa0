import DaemonConfiguration
import Glibc
package import JobLedger
package import PictureFiles
import ServiceProgram
import SystemCalls

/// A file that reserves room beside the ledger. If the ledger can't be written, retention and `pipectl clean` delete
/// this file, so that the ledger can record the removals. The methods of this type block on the disk and on the ledger.
package struct LedgerReserve: Sendable {
    package let path: String
    package let ledger: Ledger

    /// Size in bytes, enough for the records of many thousands of files.
    private static let size: Int64 = 4 << 20

    /// Enlarges the file to the smallest of three sizes: its full size, a quarter of the free space, and a sixteenth of
    /// the disk.
    func renew() {
        guard ledger.problem == nil, let room = try? DiskRoom(in: FileSystem.folder(of: path)),
            let present = try? FileSystem.status(path)?.size ?? 0
        else { return }
        let size = min(Self.size, room.usable / 16, (room.free + present) / 4)
        guard size > present else { return }
        do {
            let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            let answer = posix_fallocate(file.number, 0, off_t(size))
            guard answer == 0 else { throw SystemError("fallocate", path, code: answer) }
        } catch {
            if present == 0 { try? FileSystem.remove(path) }
        }
    }

    /// If the ledger is unwritable, frees the reserved room and makes the ledger retry. Returns whether the ledger is
    /// then writable.
    package func give() -> Bool {
        guard ledger.problem != nil else { return false }
        try? FileSystem.remove(path)
        ledger.tryAgain()
        return ledger.problem == nil
    }

    /// Frees the reserved room if the disk is too full for a start, which copies plugins and opens the ledger.
    package static func give(toStartOf places: Places) {
        guard let size = try? FileSystem.status(places.reserve)?.size, isFull(places, for: size) else { return }
        do {
            try FileSystem.remove(places.reserve)
            Log.failure(
                "the disk of \(places.state) is full: the start uses the room that was kept for this; make room there, for "
                    + "instance with `pipectl\(places.words) clean`")
        } catch {
            Log.failure("\(error), ignoring: the start lacks the room that was kept for it")
        }
    }

    /// Runs a startup step that writes to the state folder. If the disk is full, throws an error that says so.
    package static func writing<Value>(_ places: Places, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            guard isFull(places, for: 1 << 20) else { throw error }
            throw StartError(
                status: .failed,
                description:
                    "the disk of \(places.state) is full, and a start needs a megabyte there: make room (\(error))")
        }
    }

    private static func isFull(_ places: Places, for bytes: Int64) -> Bool {
        do { try FileSystem.checkRoom(for: bytes, in: places.state) } catch { return error.isFull }
        return false
    }
}
