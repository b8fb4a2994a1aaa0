import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Download hosts")
struct HostTests {
    private static func configuration(_ download: Int, perHost: Int) -> [String: String] {
        [
            "etc/pipelined.conf": """
            [Queues]
            Download=\(download)
            Window=16
            [Download]
            AllowPrivateHosts=127.0.0.1
            PerHost=\(perHost)

            """
        ]
    }

    @Test("hosts take turns: a long list from a stalled host delays no other, and uses at most PerHost= places")
    func turns() async throws {
        let slow = try SlowServer(pictures: 100)
        let quick = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        try await DaemonFixture.with(Self.configuration(4, perHost: 2)) { daemon in
            // The slow host's pictures come first in the list, and there are more of them than the window holds.
            let list = slow.list + Data("\n\(quick.url("/first.png"))\n".utf8)
            try daemon.drop(list, as: "long.urls")
            try await daemon.job("first.png", becomes: "done")
            _ = try await daemon.pipectl("add", quick.url("/second.png"))
            try await daemon.job("second.png", becomes: "done")
            await slow.until(asked: 2, coming: 2)
            let status = try daemon.status()
            #expect((status.jobs.running, status.queues["download"]?.running) == (2, 2))
            #expect(status.jobs.queued == 98)
            #expect(slow.http.seen.mostBusy == 2)
            let host = slow.http.url("").split(separator: "/").last ?? ""
            #expect(status.queues["download"]?.held == "PerHost=2 holds back downloads from \(host)")
            #expect(try await daemon.pipectl("status").output.contains("PerHost=2 holds back downloads from \(host)"))
            let queued = try #require(try daemon.list(["queued"]).first)
            #expect(queued.reason == "PerHost=2 holds it back: 2 downloads from \(host) are running")
            #expect(try await daemon.pipectl("show", "\(queued.id)").output.contains("PerHost=2 holds it back"))
            _ = try daemon.call(Call.Pause(queue: "download", reason: "lunch"))
            #expect(try daemon.status().queues["download"]?.held == nil)
            #expect(try daemon.call(Call.Show(id: queued.id)).story.job.reason == "paused: lunch")
            _ = try daemon.call(Call.CancelAll())
        }
    }

    @Test("a host's downloads follow the order of the list, and higher priorities come first")
    func order() async throws {
        let slow = try SlowServer(pictures: 40)
        try await DaemonFixture.with(Self.configuration(8, perHost: 4)) { daemon in
            try daemon.drop(slow.list, as: "list.urls")
            for finished in 1...20 {
                await slow.until(asked: finished + 3, coming: 4)
                slow.finish(finished)
            }
            await slow.until(asked: 24, coming: 4)
            // The first four requests are concurrent and may arrive in any order. Later requests follow one at a time.
            #expect(Set(slow.asked.prefix(4)) == [1, 2, 3, 4])
            #expect(slow.asked.dropFirst(4) == Array(5...24)[...])
            let last = try #require(try daemon.list(["queued"]).first { $0.input == "40.png" })
            _ = try daemon.call(Call.Prioritise(ids: [last.id], priority: "high"))
            slow.finish(21)
            await slow.until(asked: 25, coming: 4)
            #expect(slow.asked.last == 40)
            for number in 1...40 { slow.finish(number) }
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/noir").count == 40)
            #expect(slow.asked.count == 40)
        }
    }
}
