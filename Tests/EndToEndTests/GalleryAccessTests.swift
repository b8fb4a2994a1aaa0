import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("The page with a keyboard, and for assistive technology")
struct GalleryAccessTests {
    private static let focus = "document.activeElement.id"

    private static func addPictures(_ daemon: DaemonFixture, _ browser: Browser) async throws {
        for name in ["a.png", "b.png", "c.png"] {
            try daemon.drop(as: name)
            try await daemon.waitForAll()
        }
        try await browser.until("\(GalleryPage.cells("done")) === 3")
    }

    @Test("the first Tab stop among the pictures is a picture, also by batch, and the skip link leads there")
    func tab() async throws {
        try await GalleryPage.with { daemon, browser in
            try daemon.write(Picture.small, to: "mine/a.png")
            try daemon.write(Picture.small, to: "mine/b.png")
            let added = try await daemon.pipectl("add", daemon.path("mine"), "--wait")
            #expect(added.status == 0, "\(added)")
            try browser.value("document.querySelector('#by').value = 'batch'")
            try browser.value("document.querySelector('#by').dispatchEvent(new Event('change'))")
            try await browser.until("document.querySelector('.head') && \(GalleryPage.cells("done")) === 2")
            let isAmongPictures = "Boolean(document.activeElement.closest('#scroller'))"
            for _ in 1...60 where try browser.value(isAmongPictures) as? Bool == false { try browser.press(.tab) }
            #expect(try browser.text("document.activeElement.className") == "cell")
            try browser.value("document.querySelector('.skip').focus()")
            try browser.press(.enter)
            try await browser.until("document.activeElement.className === 'cell'")
            try browser.press(.right)
            #expect(try browser.text(Self.focus) == "job-1")
        }
    }

    @Test("after each action a picture has the focus, where x, Enter and the arrows work")
    func actions() async throws {
        try await GalleryPage.with { daemon, browser in
            try await Self.addPictures(daemon, browser)
            // If nothing has the focus, an arrow key moves it to the pictures.
            try browser.press(.right)
            try await browser.until("\(Self.focus) === 'job-3'")
            try browser.type("x")
            try await browser.until("!document.querySelector('#chosen').hidden")
            _ = try daemon.call(Call.Pause(queue: "render"))
            // The button vanishes, because the picture is not done any more.
            try browser.value(
                "[...document.querySelectorAll('#chosen button')].find(one => one.offsetParent && /again/.test(one.textContent)).focus()"
            )
            try browser.press(.enter)
            try await browser.until("\(Self.focus) === 'job-3'")
            try browser.value("document.querySelector('#chosen .close').focus()")
            try browser.press(.enter)
            try await browser.until("document.querySelector('#chosen').hidden && \(Self.focus) === 'job-3'")
            // When a picture leaves the view, the picture that takes its place gets the focus.
            try await browser.until("document.querySelector('[data-filter=done] .count').textContent === '2'")
            try browser.click("[data-filter=done]")
            try await browser.until("\(GalleryPage.cells()) === 2")
            // From a button, an arrow key moves the focus to the pictures.
            try browser.press(.right)
            try await browser.until("\(Self.focus).startsWith('job-')")
            try browser.value("document.querySelector('#job-2').focus()")
            #expect(try await daemon.pipectl("redo", "2").status == 0)
            try await browser.until("\(GalleryPage.cells()) === 1 && \(Self.focus) === 'job-1'")
            try browser.press(.enter)
            try await browser.until("document.querySelector('dialog.large[open]')")
            // When a button of the large view vanishes, the focus stays in the large view.
            try browser.value(
                "[...document.querySelectorAll('.large .doing button')].find(one => one.textContent === 'Process again').focus()"
            )
            try browser.press(.enter)
            try await browser.until("document.activeElement.className === 'stage'")
            try browser.press(.escape)
            try await browser.until("!document.querySelector('dialog[open]')")
        }
    }

    /// Returns the violations that axe-core finds in the page's present state.
    private static func violations(_ browser: Browser) throws -> [String] {
        try #require(
            try browser.promise(
                """
                axe.run(document, { resultTypes: ["violations"] }).then(found => found.violations.flatMap(
                    one => one.nodes.map(node => `${one.id}: ${node.html.slice(0, 200)}`)))
                """) as? [String])
    }

    @Test("axe-core finds nothing to complain of in any state of the page", arguments: [1200, 400])
    func axe(width: Int) async throws {
        let script = try #require(
            ProcessInfo.processInfo.environment["PIPELINED_AXE"], "./run test installs axe-core and names it here")
        let files = ["etc/recipes.d/web.recipe": "[Output]\nChain=noir\n\n[Output small]\nChain=resize edge=20\n"]
        try await GalleryPage.with(width: width, files: files) { daemon, browser in
            let axe = try String(contentsOfFile: script, encoding: .utf8)
            func check(_ state: String) throws {
                try browser.run(axe)
                let violations = try Self.violations(browser)
                #expect(violations.isEmpty, "\(state): \(violations)")
            }
            func close() async throws {
                try browser.press(.escape)
                try await browser.until("!document.querySelector('dialog[open]')")
            }
            try check("empty")
            try daemon.write(Picture.small, to: "mine/a.png")
            try daemon.write(Picture.small, to: "mine/b.png")
            try daemon.write("no picture", to: "mine/c.png")
            _ = try await daemon.pipectl("add", daemon.path("mine"), "--recipe", "web", "--wait")
            _ = try daemon.call(Call.Pause(queue: "render", reason: "a test"))
            try daemon.drop(as: "waits.png")
            try await browser.until("\(GalleryPage.cells()) === 4 && document.querySelectorAll('.cell img').length > 2")
            try check("pictures")
            try browser.value("document.querySelectorAll('.cell:not([hidden]) .tick').forEach(tick => tick.click())")
            try await browser.until("!document.querySelector('#chosen').hidden")
            try check("chosen")
            try browser.click(".queue:nth-child(2) > button")
            try await browser.until("document.querySelector('.queue .popover:popover-open')")
            try check("a queue")
            try browser.press(.escape)
            try browser.value("document.querySelector('#job-1').click()")
            try await browser.until("document.querySelectorAll('.large[open] .layer img').length === 2")
            try check("one picture large")
            try await close()
            try browser.value("document.querySelector('#job-3').click()")
            try await browser.until("document.querySelector('.large[open] .story .bad')")
            try check("a failed picture large")
            try await close()
            try daemon.write("no picture", to: "notes.txt")
            try browser.click("#add")
            try browser.choose([daemon.path("mine/a.png"), daemon.path("notes.txt")], in: ".adding input[type=file]")
            try await browser.until("document.querySelectorAll('.adding .files li').length === 2")
            try check("adding")
            try await close()
            try browser.click("#recipes")
            try await browser.until("document.querySelector('.finding[open] .before img')")
            try check("recipes")
            try browser.click("[role=tab]:nth-child(2)")
            try browser.value("document.querySelector('.known').scrollIntoView()")
            try await browser.until("document.querySelectorAll('.sample img').length > 3")
            try browser.click("#chain")
            try browser.type("resiz")
            try await browser.until("document.querySelector('.offers:not([hidden]) li')")
            try check("filters, with completions")
            try browser.press(.escape)
            try browser.value("document.querySelector('.tried .acts button:nth-child(2)').click()")
            try await browser.until("document.querySelector('.saving[open]')")
            try browser.value("document.querySelector('.saving .acts button').click()")
            try check("saving a recipe")
            try browser.value("document.querySelector('.saving .close').click()")
            try await close()
            try browser.press(.question)
            try await browser.until("document.querySelector('.help[open]')")
            try check("help")
            try await close()
            try browser.value("document.querySelector('#by').value = 'batch'")
            try browser.value("document.querySelector('#by').dispatchEvent(new Event('change'))")
            try await browser.until("document.querySelector('.head')")
            try check("by batch")
            try browser.value("document.querySelector('.all button:not([hidden])').click()")
            try await browser.until("document.querySelector('.ask[open]')")
            try check("a question")
            try browser.go(to: try browser.text("location.origin") + "/plain")
            try check("without JavaScript")
            #expect(try browser.text("document.body.textContent").contains("failed: this is no picture"))
            try browser.go(to: try browser.text("location.origin") + "/?code=wrong")
            try check("the login")
        }
    }
}
