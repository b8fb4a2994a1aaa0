import CVips
import Glibc
import SystemCalls

enum FileHash {
    /// The SHA-256 of the file's bytes, in hexadecimal. Calls `check` before each block; `check` may throw to stop.
    static func sha256(_ file: Descriptor, check: () throws -> Void = {}) throws -> String {
        guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else { throw FileHashError() }
        defer { g_checksum_free(checksum) }
        var room = [UInt8](repeating: 0, count: 256 * 1024)
        var offset: off_t = 0
        while true {
            try check()
            let got = uninterrupted { pread(file.number, &room, room.count, offset) }
            guard got >= 0 else { throw SystemError("read", "a file") }
            if got == 0 { break }
            g_checksum_update(checksum, room, gssize(got))
            offset += off_t(got)
        }
        return g_checksum_get_string(checksum).map { String(cString: $0) } ?? ""
    }
}

struct FileHashError: Error, CustomStringConvertible {
    let description = "GLib makes no SHA-256"
}
