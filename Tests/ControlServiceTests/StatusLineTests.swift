import PipelineControl
import Testing

@testable import ControlService

struct StatusLineTests {
    private static func status(_ change: (inout Control.Overview) -> Void) -> Control.Overview {
        var status = Control.Overview(
            version: "", started: "", root: nil, stopping: false, jobs: Control.Jobs(), queues: [:], inboxes: [],
            ignored: [], workers: 0, cursor: 0, problems: [])
        change(&status)
        return status
    }

    @Test("An idle daemon says so, with today's failures")
    func idle() {
        #expect(StatusLine.text(Self.status { _ in }, failedToday: 0) == "nothing to do")
        #expect(StatusLine.text(Self.status { $0.jobs.failed = 9 }, failedToday: 2) == "nothing to do, 2 failed today")
    }

    @Test("The numbers are first, then the problems, then the reasons of waiting jobs")
    func order() {
        let status = Self.status {
            ($0.jobs.running, $0.jobs.queued, $0.jobs.waiting) = (2, 118, 13)
            $0.problems = ["no space in /srv/out"]
            $0.inboxes = [
                Control.Inbox(
                    path: "/srv/in", recipe: "web", watch: "inotify", settling: 0, ignored: 0, problem: "it is gone")
            ]
            $0.waiting = [
                Control.Waiting(reason: "no space in /srv/out", jobs: 12),
                Control.Waiting(reason: "after another job", jobs: 1),
            ]
        }
        #expect(
            StatusLine.text(status, failedToday: 3)
                == "2 running, 118 queued, 13 waiting, 3 failed today; no space in /srv/out; inbox /srv/in: it is gone; "
                + "12 wait: no space in /srv/out; 1 waits: after another job")
    }

    @Test("The status stays one readable line, however long the reasons are")
    func bounded() {
        let status = Self.status {
            $0.stopping = true
            $0.jobs.running = 1
            $0.problems = (1...9).map { "problem \($0)\nREADY=1 " + String(repeating: "x", count: 1000) }
        }
        let line = StatusLine.text(status, failedToday: 0)
        #expect(line.hasPrefix("stopping: 1 running; problem 1\\nREADY=1 xxx"))
        #expect(line.hasSuffix("…; 6 more, in `pipectl status`"))
        #expect(!line.contains("\n"))
        #expect(line.count < 700)
    }
}
