import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Events of the gallery")
struct GalleryEventTests {
    /// A browser that listens to the gallery's events.
    private final class Follower {
        private let socket: Descriptor
        private(set) var text = ""

        init(_ gallery: GalleryProcess, after cursor: Int? = nil) throws {
            let headers = cursor.map { ["Last-Event-ID: \($0)"] } ?? []
            socket = try gallery.client(GalleryProcess.request("/events", headers))
        }

        /// Reads until all the text received so far satisfies `isGood`.
        func until(_ isGood: (String) -> Bool) throws {
            while !isGood(text) {
                let bytes = try Socket.receive(room: 65536, from: socket).bytes
                try #require(!bytes.isEmpty, "the stream has ended: \(text)")
                text += String(decoding: bytes, as: UTF8.self)
            }
        }

        var cursors: [Int] {
            text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("id: ") }.compactMap { Int($0.dropFirst(4)) }
        }
    }

    @Test("a browser is told of each change, and resumes at its last event when it reconnects")
    func resumed() async throws {
        try await DaemonFixture.with { daemon in
            let gallery = try await GalleryProcess(of: daemon)
            let first = try Follower(gallery)
            try first.until { $0.contains("event: status\n") && $0.contains("event: progress\n") }
            #expect(first.text.contains("\r\nContent-Type: text/event-stream\r\n"))
            try daemon.drop(as: "a.png")
            try first.until { $0.contains(#""kind":"picture""#) }
            let cursors = first.cursors
            #expect(cursors == Array(1..<cursors.count + 1))
            // The gallery sends these events from its buffer while another browser listens, and otherwise requests them
            // again from the daemon.
            let second = try Follower(gallery, after: 1)
            try second.until { $0.contains(#""kind":"picture""#) }
            #expect(second.cursors == Array(cursors.dropFirst()))
            let third = try Follower(gallery, after: -5)
            try third.until { $0.contains("event: lost\n") }
        }
    }

    @Test("a browser is told when the daemon stops and restarts, and misses no event")
    func restarted() async throws {
        try await DaemonFixture.with { daemon in
            let gallery = try await GalleryProcess(of: daemon)
            let browser = try Follower(gallery)
            try browser.until { $0.contains("event: status\n") }
            try daemon.drop(as: "a.png")
            try browser.until { $0.contains(#""kind":"picture""#) }
            await daemon.stop()
            try browser.until { $0.contains(#"event: daemon\#ndata: {"there":false"#) }
            try await daemon.start()
            try daemon.drop(as: "b.png")
            try browser.until { $0.components(separatedBy: #""kind":"picture""#).count == 3 }
            #expect(browser.text.contains(#"data: {"there":true"#))
            #expect(browser.cursors == Array(1..<browser.cursors.count + 1))
        }
    }

    @Test("a preview that many browsers wait for is requested once")
    func shared() async throws {
        try await GalleryProcess.with { daemon, gallery in
            try daemon.drop(Picture.tiff(width: 900, height: 700), as: "a.tif")
            try await daemon.waitForAll()
            // The stopped daemon answers nothing while all browsers send their requests.
            kill(daemon.process, SIGSTOP)
            let before = gallery.process.descriptors.count
            let clients = try (1...50).map { _ in
                try gallery.client(GalleryProcess.request("/pictures/1?width=320&v=1"))
            }
            // The gallery needs two descriptors for each waiting browser. It would need three if it requested the
            // preview separately for each browser.
            while gallery.process.descriptors.count < before + 2 * clients.count { await Look.again() }
            // When the page has been served, the gallery has also handled all earlier requests.
            #expect(try gallery.get("/").hasPrefix("HTTP/1.1 200 "))
            #expect(gallery.process.descriptors.count < before + 3 * clients.count)
            kill(daemon.process, SIGCONT)
            let answers = try clients.map { try GalleryProcess.all(from: $0) }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") } && Set(answers.map(\.count)).count == 1)
        }
    }

    @Test("two hundred browsers are one client to the daemon, and none once they have gone")
    func many() async throws {
        try await DaemonFixture.with { daemon in
            let gallery = try await GalleryProcess(of: daemon, ["--streams", "200"])
            let before = try daemon.settledDescriptors()
            var browsers = try (1...200).map { _ in try Follower(gallery) }
            for browser in browsers { try browser.until { $0.contains("event: status\n") } }
            let refused = try gallery.get("/events")
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("200 browsers receive events already"))
            // The gallery makes two lasting calls, Watch and Progress, and calls Status now and then.
            try daemon.expectDescriptors(before)
            _ = try daemon.call(Call.Pause(queue: "render", reason: "so that no worker comes"))
            for browser in browsers { try browser.until { $0.contains("so that no worker comes") } }
            browsers = []
            try daemon.expectDescriptors(before - 2)
        }
    }
}
