import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A fleet on the gallery's page", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetPageTests {
    private func line(_ number: Int) -> String {
        "[...document.querySelectorAll('#fleet tbody tr')[\(number)].children].map(cell => cell.textContent).join('|')"
    }

    @Test("each node has a line beside the queues, with its jobs, what it lacks, and whether it is silent")
    func nodes() async throws {
        try await FleetPair.with(lacking: true) { pair in
            let (a, b, server) = (pair.a, pair.b, pair.server)
            let gallery = try await GalleryProcess(of: a, ["--listen", "127.0.0.1:0"])
            let browser = try await Browser(width: 520, height: 844)
            try browser.go(to: try await a.pipectl("gallery").output.trimmingCharacters(in: .newlines))
            // The daemon sends no events about these figures, so the page must request them.
            try await browser.until("\(line(0)) === 'a|0 of 1|0|0|0|0|0|this node'")
            try await browser.until("\(line(1)) === 'b|0 of 2|0|||||lacks extra'")
            let button = "document.querySelector('.fleet button')"
            #expect(try browser.text("\(button).textContent").hasPrefix("fleet 1 other node"))
            let place = "document.querySelector('#fleet p').textContent"
            #expect(try browser.text(place) == "a at \(server.url)")
            try browser.click(".fleet button")
            try await browser.until("document.querySelector('#fleet:popover-open')")
            #expect(try browser.number("document.documentElement.scrollWidth - innerWidth") <= 0)
            #expect(try browser.number("document.querySelector('#fleet').getBoundingClientRect().right") <= 520)

            try b.drop(Data("nothing".utf8), as: "broken.png")
            try b.drop(Picture.png(width: 20, height: 10), as: "good.png")
            try await browser.until(
                "\(line(1)) === 'b|0 of 2|0|0|0|1|1|lacks extra' && \(line(2)) === 'all|||0|0|1|1|'")
            try browser.click("#fleet tbody tr:nth-child(2) button")
            let jobs = "[...document.querySelectorAll('.node-jobs li')].map(line => line.textContent)"
            try await browser.until("\(jobs).some(text => text.endsWith('good.png: done'))")
            try await browser.until("\(jobs).some(text => text.includes('broken.png: failed, '))")
            try browser.click("#fleet tbody tr:nth-child(2) button")
            try await browser.until("document.querySelector('.node-jobs').hidden")

            let plain = try gallery.get("/plain")
            #expect(plain.contains("<p>Fleet: a at \(server.url).</p>"), "\(plain)")
            #expect(plain.contains("<tr><td>b<td>0 of 2<td>0<td>lacks extra</tr>"), "\(plain)")

            await b.stop()
            try await browser.until("\(line(1)) === 'b|||||||silent' && \(button).textContent.endsWith('1 silent')")
            #expect(try gallery.get("/plain").contains("<tr><td>b<td><td><td>silent</tr>"))
            await server.kill()
            try await browser.until("\(button).textContent.endsWith('not connected')")
            #expect(try browser.text(place) == "a, not connected")
            // The fleet panel is still open.
            try await browser.until(
                "document.querySelector('#fleet:popover-open .wrong').textContent.includes('fleet: ')")
            #expect(try gallery.get("/plain").contains("<p>Fleet: a, <strong>not connected</strong>.</p>"))
        }
    }

    @Test("without a fleet the page does not mention one")
    func alone() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let browser = try await Browser()
            try browser.go(to: try await daemon.pipectl("gallery").output.trimmingCharacters(in: .newlines))
            try await browser.until("document.querySelector('.queues button')")
            try await browser.until("document.querySelector('.fleet').childElementCount === 0")
            #expect(try !gallery.get("/plain").contains("leet"))
        }
    }
}
