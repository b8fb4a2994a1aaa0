import Foundation
import PipelineControl
import TestTools
import Testing

struct StatusTests {
    private func daemon(_ status: Control.Overview) throws -> CannedDaemon {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Status.self, .init(status: status))
        return daemon
    }

    @Test("status --json has the documented names")
    func names() async throws {
        let daemon = try daemon(Sample.status(jobs: Sample.jobs { $0.done = 3 }))
        let document = try await Pipectl.run("status", "--json", at: daemon).document()
        #expect(document["version"] as? String == "0.1.0")
        let jobs = try #require(document["jobs"] as? [String: Int])
        #expect(
            Set(jobs.keys) == [
                "waiting", "queued", "running", "cancelling", "done", "failed", "cancelled", "ignored",
            ])
        #expect(jobs["done"] == 3)
        let queues = try #require(document["queues"] as? [String: [String: Any]])
        let render = try #require(queues["render"])
        #expect(
            Set(render.keys) == [
                "configured", "effective", "running", "waiting", "paused", "reason", "automatic",
            ])
        #expect(render["configured"] is NSNull)
        #expect(render["paused"] as? Bool == true)
    }

    @Test("Without a verb it is the status, options and all")
    func bare() async throws {
        let daemon = try daemon(Sample.status())
        let bare = try await Pipectl.run("--json", at: daemon)
        #expect(try await Pipectl.run("--json", "status", at: daemon).output == bare.output)
        #expect(bare.status == 0)
    }

    @Test("The overview says what keeps the daemon from its work before anything else")
    func problemsFirst() async throws {
        let daemon = try daemon(
            Sample.status(
                jobs: Sample.jobs {
                    $0.running = 1
                    $0.failed = 2
                }, inboxes: [Sample.inbox], problems: ["the disk is full"]))
        daemon.answer(Call.Progress.self, Sample.progress(running: 1, of: 3))
        let lines = try await Pipectl.run("status", at: daemon).lines
        #expect(lines[0].hasPrefix("pipelined 0.1.0 · up "))
        #expect(lines[1] == "problem: the disk is full")
        #expect(lines[2] == "1 running, 2 failed")
        #expect(lines[4].hasSuffix("░  2 of 3"))
        #expect(lines[5].hasPrefix("  #3 download  harbour.jpg  ███░░░░░░░  38 %"))
        #expect(lines.contains("render         1  auto: 2        7  paused: the CPU is needed"))
        #expect(lines.contains { $0.contains("/srv/inbox") && $0.contains("2 settling, 1 ignored") })
        #expect(lines.last == "notes.txt   no recipe takes it")
    }

    @Test("Colour is for terminals, for whoever asks, and for nobody who refuses")
    func color() async throws {
        let daemon = try daemon(Sample.status())
        let escape = "\u{1b}["
        #expect(!(try await Pipectl.run("status", at: daemon).output.contains(escape)))
        #expect(try await Pipectl.run("status", "--color", "always", at: daemon).output.contains(escape))
        let terminal = try PipectlTerminal("status", at: daemon)
        #expect(terminal.finish() == 0)
        #expect(terminal.seen.contains(escape))
        let refusing = try PipectlTerminal("status", at: daemon, environment: ["NO_COLOR": "1"])
        #expect(refusing.finish() == 0)
        #expect(!refusing.seen.contains(escape))
    }
}
