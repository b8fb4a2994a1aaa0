import CSystemd
import Glibc

/// Writes fields to the journal (sd_journal_sendv(3)): `journalctl JOB=42` finds the lines about a job.
enum Journal {
    static func write(_ line: String, _ priority: LogPriority, of subject: LogSubject) {
        send(
            [("MESSAGE", line), ("PRIORITY", "\(priority.rawValue)"), ("SYSLOG_IDENTIFIER", "pipelined")]
                + subject.fields)
    }

    private static func send(_ fields: [(name: String, value: String)]) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for (name, value) in fields {
            bytes += "\(name)=\(value)".utf8
            ends.append(bytes.count)
        }
        bytes.withUnsafeMutableBytes { buffer in
            var start = 0
            let parts = ends.map { end in
                defer { start = end }
                return iovec(iov_base: buffer.baseAddress.map { $0 + start }, iov_len: end - start)
            }
            _ = sd_journal_sendv(parts, Int32(parts.count))
        }
    }
}
