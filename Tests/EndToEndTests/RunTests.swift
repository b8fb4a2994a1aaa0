import Foundation
import TestTools
import Testing

@Suite("The task runner")
struct RunTests {
    /// Calls the function of `./run` that runs apt-get. A script with the commands in `aptGet` takes the place of
    /// apt-get.
    private func install(_ aptGet: String) async throws -> (output: String, errors: String, calls: [String]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pipelined-run-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("apt-get").path
        try Data("#!/bin/sh\ncd \(folder.path)\necho \"$@\" >>calls\n\(aptGet)\n".utf8)
            .write(to: URL(fileURLWithPath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let run = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../run").standardized.path
        let script = """
            set -euo pipefail
            eval "$(sed -n '/^say()/p; /^wait_for_apt()/,/^}/p' '\(run)')"
            PATH=\(folder.path):$PATH
            wait_for_apt install jq || echo "status $?"
            """
        let outcome = try await Programs.run(path: "/bin/bash", ["-c", script])
        let calls = try String(contentsOf: folder.appendingPathComponent("calls"), encoding: .utf8)
        return (outcome.output, outcome.errors, calls.split(separator: "\n").map(String.init))
    }

    @Test("while another program has apt's lock, ./run says so once, and waits")
    func lock() async throws {
        let outcome = try await install(
            """
            [ $(grep -c . calls) -gt 1 ] && { echo installed; exit; }
            echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12 (apt-get)" >&2
            exit 100
            """)
        #expect(outcome.output == "installed\n")
        #expect(
            outcome.errors == "apt's lock is held by process 12 (apt-get): waiting for it, up to 15 minutes …\n",
            "\(outcome)")
        #expect(outcome.calls.count == 2 && outcome.calls.first?.contains("-o DPkg::Lock::Timeout=0 ") == true)
        #expect(outcome.calls.last?.contains("-o DPkg::Lock::Timeout=") == true)
        #expect(outcome.calls.last?.contains("-o DPkg::Lock::Timeout=0 ") == false)
    }

    @Test("any other failure of apt-get ends ./run at once, with apt-get's words")
    func failure() async throws {
        let outcome = try await install("echo 'E: Unable to locate package jq'; exit 100")
        #expect(outcome.output == "E: Unable to locate package jq\nstatus 100\n" && outcome.errors == "")
        #expect(outcome.calls == ["-o DPkg::Lock::Timeout=0 install jq"])
    }
}
