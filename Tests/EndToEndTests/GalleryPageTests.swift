import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("The page in a browser")
struct GalleryPageTests {
    @Test("cells show grey, then the original, then the result, until pipectl cancel-all stops the rest")
    func turning() async throws {
        let server = try SlowServer(pictures: 20)
        try await GalleryPage.with { daemon, browser in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            _ = try daemon.call(Call.AddUrls(urls: (1...20).map { server.http.url("/\($0).png") }))
            try await browser.until("\(GalleryPage.cells()) === 20")
            #expect(try browser.number("document.querySelectorAll('.frame img').length") == 0)
            #expect(try browser.text("document.querySelector('#job-1 .name').textContent") == "1.png")
            server.finish(1)
            try await browser.until(GalleryPage.shows(1, "1"))
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await browser.until(GalleryPage.shows(1, "1/1"))
            #expect(try await daemon.pipectl("cancel-all").status == 0)
            try await browser.until("\(GalleryPage.cells("cancelled")) === 19 && \(GalleryPage.cells("done")) === 1")
            #expect(try daemon.status().jobs.cancelled == 19)
        }
    }

    @Test("forty files are added as a batch; the page continues after a reload, and after the daemon was away")
    func adding() async throws {
        try await GalleryPage.with { daemon, browser in
            let folder = daemon.path("mine")
            for number in 1...40 { try daemon.write(Picture.small, to: "mine/\(number).png") }
            try browser.click("#add")
            try browser.choose((1...40).map { "\(folder)/\($0).png" }, in: ".adding input[type=file]")
            try await browser.until("document.querySelectorAll('.adding .files li').length === 40")
            try await browser.until("!document.querySelector('.adding .strong').disabled")
            try browser.click(".adding .strong")
            try await daemon.event { $0.kind == "batch" && $0.text == "ended" && $0.batch?.done == 40 }
            try browser.press(.escape)
            try await browser.until(
                "\(GalleryPage.cells("done")) > 9 && \(GalleryPage.cells("done")) === \(GalleryPage.cells())")
            try browser.reload()
            try await browser.until("\(GalleryPage.cells("done")) > 9")
            await daemon.stop()
            try await browser.until("document.querySelector('fieldset[data-acts]').disabled")
            try await daemon.start()
            try daemon.drop(as: "late.png")
            try await browser.until("!document.querySelector('fieldset[data-acts]').disabled")
            try await browser.until(GalleryPage.shows(41, "41/1"))
        }
    }

    @Test("pictures are added as a named album under the default recipe, and the panel closes when all are sent")
    func album() async throws {
        let files = [
            "etc/recipes.d/archive.recipe": "[Output]\nChain=noir\n",
            "etc/recipes.d/web.recipe": "[Output]\nChain=sepia\n",
            "etc/pipelined.conf": "[Daemon]\nDefaultRecipe=web\n",
        ]
        try await GalleryPage.with(files: files) { daemon, browser in
            let value = "document.querySelector('#add-recipe').value"
            try browser.click("#add")
            try await browser.until("\(value) === 'web'")
            #expect(try browser.text("localStorage.getItem('recipe') ?? ''") == "")
            for name in ["a.png", "b.png"] { try daemon.write(Picture.small, to: "mine/\(name)") }
            try browser.choose(["a.png", "b.png"].map { daemon.path("mine/\($0)") }, in: ".adding input[type=file]")
            try await browser.until("!document.querySelector('.adding .strong').disabled")
            try browser.click("#add-album")
            try browser.type("Lucerne")
            try browser.click(".adding .strong")
            try await browser.until("!document.querySelector('.adding[open]')")
            #expect(try daemon.call(Call.FindBatch(batch: "Lucerne")).batch.recipe == "web")
            // A notice links to the batch.
            try await browser.until("document.querySelector('#passing')?.textContent.includes('Show the batch')")
            // The page remembers a recipe that a person has chosen.
            try browser.click("#add")
            try await browser.until("\(value) === 'web'")
            try browser.value(
                """
                (field => { field.value = 'archive'; field.dispatchEvent(new Event('change')) })\
                (document.querySelector('#add-recipe'))
                """)
            try browser.reload()
            try await browser.until("\(GalleryPage.cells()) === 2")
            try browser.click("#add")
            try await browser.until("\(value) === 'archive'")
        }
    }

    @Test("a file that can't be sent leaves the panel open, and is named there")
    func unsent() async throws {
        try await GalleryPage.with { daemon, browser in
            for name in ["a.png", "b.png"] { try daemon.write(Picture.small, to: "mine/\(name)") }
            try browser.click("#add")
            try browser.choose(["a.png", "b.png"].map { daemon.path("mine/\($0)") }, in: ".adding input[type=file]")
            try await browser.until("!document.querySelector('.adding .strong').disabled")
            try FileManager.default.removeItem(atPath: daemon.path("mine/b.png"))
            try browser.click(".adding .strong")
            try await browser.until(
                "document.querySelector('.adding[open] [data-state=failed] .name')?.textContent === 'b.png'")
            try await browser.until("document.querySelector('.adding[open] .state:not(:empty)')?.textContent === '#1'")
            try await daemon.waitForAll()
            #expect(try daemon.list(["done"]).map(\.input) == ["a.png"])
        }
    }

    @Test("a page of many thousands has a few dozen cells, and can reach every picture")
    func many() async throws {
        let count = Sweep.of(3000, all: 20_000)
        try await GalleryPage.with { daemon, browser in
            _ = try daemon.call(Call.Pause())
            let list = (1...count).map { "http://127.0.0.1:9/\($0).png" }.joined(separator: "\n")
            try daemon.write(list, to: "mine/list")
            let file = try Descriptor.open(daemon.path("mine/list"), O_RDONLY)
            _ = try daemon.client().callForFiles(Call.AddList(), descriptors: [file])
            try await browser.until("document.querySelector('#job-\(count) .name')?.textContent === '\(count).png'")
            try browser.value("document.querySelector('#scroller').scrollTo(0, 1e9)")
            try await browser.until("document.querySelector('#job-1 .name')?.textContent === '1.png'")
            try browser.value("document.querySelector('#job-1').focus()")
            for _ in 1...3 {
                try browser.press(.home)
                try await browser.until("document.activeElement.id === 'job-\(count)'")
                try browser.press(.end)
                try await browser.until("document.activeElement.id === 'job-1'")
            }
            #expect(try browser.number("document.querySelectorAll('.cell').length") <= 150)
            #expect(try browser.number("document.querySelector('[role=grid]').ariaRowCount * 1") > count / 20)
        }
    }

    @Test("the keyboard alone reaches each picture, its large view and its controls, even at a phone's width")
    func keys() async throws {
        try await GalleryPage.with(width: 360, height: 740) { daemon, browser in
            for name in ["a.png", "b.png", "c.png"] {
                try daemon.drop(as: name)
                try await daemon.waitForAll()
            }
            try await browser.until("\(GalleryPage.cells("done")) === 3")
            #expect(try browser.number("document.documentElement.scrollWidth - innerWidth") <= 0)
            for _ in 1...60 where try browser.text("document.activeElement.className") != "cell" {
                try browser.press(.tab)
            }
            #expect(try browser.text("document.activeElement.id") == "job-3")
            try browser.press(.right)
            #expect(try browser.text("document.activeElement.id") == "job-2")
            try browser.press(.space)
            let line = "document.querySelector('dialog.large[open] .slide input:not(:disabled)').value"
            try await browser.until(
                "document.querySelector('dialog.large[open] h2').textContent === 'b.png' && \(line) === '0'")
            try browser.press(.right)
            try await browser.until(
                "document.querySelector('dialog.large[open] h2').textContent === 'a.png' && \(line) === '0'")
            try browser.press(.escape)
            try await browser.until("!document.querySelector('dialog[open]') && document.activeElement.id === 'job-1'")
            // The large view shows the result as soon as it exists.
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "d.png")
            try await browser.until("\(GalleryPage.cells()) === 4")
            try browser.press(.home)
            try browser.press(.space)
            try await browser.until("document.querySelector('dialog.large[open] .single .before img')")
            _ = try daemon.call(Call.Resume())
            try await browser.until("document.querySelector('dialog.large[open] .after img') && \(line) === '0'")
            try browser.press(.escape)
            try await browser.until("!document.querySelector('dialog[open]')")
            try browser.press(.question)
            try await browser.until("document.querySelector('dialog[open]')")
            try browser.press(.escape)
            try await browser.until("!document.querySelector('dialog[open]')")
        }
    }
}
