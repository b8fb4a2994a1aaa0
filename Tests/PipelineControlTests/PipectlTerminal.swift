import Foundation
import Glibc
import SystemCalls
import TestTools

/// Runs pipectl on a pseudo-terminal. The test reads the other side.
final class PipectlTerminal {
    private let screen: Descriptor
    private let process: ChildProcess
    private(set) var seen = ""

    convenience init(
        _ words: String..., at daemon: CannedDaemon, columns: UInt16 = 80, environment: [String: String] = [:]
    ) throws {
        try self.init(words, at: daemon, columns: columns, environment: environment)
    }

    init(
        _ words: [String], at daemon: CannedDaemon, columns: UInt16 = 80, environment: [String: String] = [:]
    ) throws {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&ours, &theirs, nil, nil, &size) == 0 else { throw SystemError("openpty", "terminal") }
        screen = Descriptor(owning: ours)
        process = try Pipectl.start(
            words, at: daemon, environment: environment, output: Descriptor(owning: theirs))
    }

    /// Reads until the text has been shown, or until pipectl has exited.
    func read(until text: String) {
        while !seen.contains(text), more() {}
    }

    func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        // The kernel does not send SIGWINCH, because this is not the program's controlling terminal.
        _ = ioctl(screen.number, UInt(TIOCSWINSZ), &size)
        process.signal(SIGWINCH)
    }

    /// The text on standard error, which is not the terminal.
    var errors: String { process.errors }

    /// The lines that were shown so far.
    var lines: [String] { seen.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init) }

    func interrupt() { process.signal(SIGINT) }

    /// Reads to EOF; returns the exit code.
    func finish() -> Int32 {
        while more() {}
        return process.wait().status
    }

    private func more() -> Bool {
        var room = [UInt8](repeating: 0, count: 4096)
        let got = Glibc.read(screen.number, &room, room.count)
        guard got > 0 else { return false }
        seen += String(decoding: room[..<got], as: UTF8.self)
        return true
    }
}
