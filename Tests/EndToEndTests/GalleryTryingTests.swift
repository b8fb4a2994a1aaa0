import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Chains that are tried on the page")
struct GalleryTryingTests {
    private static let isShown = "document.querySelector('.finding[open] .before img')"

    /// The path of the picture on which chains are tried.
    private static let path = "\(isShown).dataset.path"

    /// Tries a chain on the picture, and waits for its result.
    private static func tryChain(_ browser: Browser) async throws {
        try browser.click("#chain")
        try browser.type("sepia")
        try browser.press(.enter)
        try await browser.until("document.querySelector('.finding .after img')")
    }

    @Test("without any picture the page uses its own sample, and each filter shows its effect on it")
    func sample() async throws {
        try await GalleryPage.with { daemon, browser in
            try browser.click("#recipes")
            try await browser.until(Self.isShown)
            #expect(try browser.text(Self.path) == "/sample.webp")
            try await Self.tryChain(browser)
            try browser.click("[role=tab]:nth-child(2)")
            try await browser.until("document.querySelectorAll('.sample img').length > 3")
            #expect(try daemon.list().isEmpty)
        }
    }

    @Test("failed pictures are skipped, and a result stands in for an original that is gone")
    func found() async throws {
        let files = ["etc/recipes.d/web.recipe": "[Recipe]\nOriginal=delete\n\n[Output]\nChain=noir\n"]
        try await GalleryPage.with(files: files) { daemon, browser in
            try daemon.drop(as: "a.png", inbox: "inbox/web")
            try daemon.drop(as: "b.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            try FileManager.default.removeItem(atPath: daemon.path("outbox/web/b.jpg"))
            let urls = (1...300).map { "ftp://127.0.0.1/\($0).png" }.joined(separator: "\n")
            try daemon.write(urls, to: "bad.urls")
            _ = try await daemon.pipectl("add", daemon.path("bad.urls"), "--wait")
            #expect(try daemon.status().jobs.failed == 300)
            try await browser.until(GalleryPage.cells("failed") + " > 5")
            let id = try #require(try daemon.list().first { $0.input == "a.png" }).id
            try browser.click("#recipes")
            try await browser.until(Self.isShown)
            #expect(try browser.text(Self.path).hasPrefix("/pictures/\(id)/1?"))
            try await Self.tryChain(browser)
        }
    }

    @Test("the arrows lead to older and newer pictures")
    func steps() async throws {
        try await GalleryPage.with { daemon, browser in
            for name in ["a.png", "b.png"] {
                try daemon.drop(as: name)
                try await daemon.waitForAll()
            }
            try await browser.until("\(GalleryPage.cells("done")) === 2")
            try browser.click("#recipes")
            try await browser.until(Self.isShown)
            for (button, name) in [("Older", "a.png"), ("Newer", "b.png")] {
                try browser.click(".which [aria-label^=\(button)]")
                try await browser.until("document.querySelector('.which h3').textContent === '\(name)'")
            }
        }
    }

    @Test("a chain becomes a recipe, which is changed, removed and brought back, each undone by one press")
    func saving() async throws {
        try await GalleryPage.with { daemon, browser in
            let recipe = { try daemon.call(Call.Recipes()).recipes.first { $0.name == "small" } }
            let undo = "[...document.querySelectorAll('#passing button')].find(button => button.textContent === 'Undo')"
            let line =
                "[...document.querySelectorAll('.lines li')].find(line => line.querySelector('h3').textContent === 'small')"
            func press(_ name: String, in place: String = "document") throws {
                try browser.value(
                    "[...\(place).querySelectorAll('button')].find(button => button.textContent === '\(name)').click()")
            }
            try browser.click("#recipes")
            try await browser.until(Self.isShown)
            try browser.click("#chain")
            try browser.type("resize width=8 | niro")
            try press("Save …")
            try await browser.until("document.querySelector('.saving[open]')")
            try browser.click("#save-name")
            try browser.type("small")
            try press("Save")
            try await browser.until(
                "document.querySelector('.saving .bad').textContent.includes(\"did you mean 'noir'\")")
            #expect(try recipe() == nil)
            try browser.value("document.querySelector('#save-chain-0').value = 'resize width=8 | noir'")
            try press("Another result")
            try browser.type("big")
            try browser.value("document.querySelector('#save-chain-1').value = 'save format=webp'")
            try press("Save")
            try await browser.until("!document.querySelector('.saving[open]') && \(undo) && \(line)")
            #expect(try recipe()?.chains == ["": "resize width=8 | noir", "big": "save format=webp"])

            try press("Change …", in: "(\(line))")
            try await browser.until("document.querySelector('.saving[open]')")
            #expect(try browser.text("document.querySelector('#save-output-1').value") == "big")
            try press("Leave it out", in: "document.querySelector('.saving')")
            try press("Save")
            try await browser.until(
                "!document.querySelector('.saving[open]') && !(\(line)).textContent.includes('big')")
            #expect(try recipe()?.chains == ["": "resize width=8 | noir"])
            try browser.value("\(undo).click()")
            try await browser.until("(\(line))?.textContent.includes('big')")
            #expect(try recipe()?.chains.count == 2)

            try press("Remove", in: "(\(line))")
            try await browser.until("!(\(line)) && \(undo)")
            #expect(try recipe() == nil)
            try browser.value("\(undo).click()")
            try await browser.until("\(line)")
            #expect(try recipe()?.chains.count == 2)
        }
    }
}
