import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("One picture large on the page")
struct GalleryLargeTests {
    private static let large = "document.querySelector('dialog.large[open]')"

    @Test("the large view shows the camera's metadata, and whether the result still reveals the place")
    func photograph() async throws {
        let recipe = "[Output]\nChain=save format=jpeg metadata=keep-without-place\n"
        try await GalleryPage.with(files: ["etc/recipes.d/web.recipe": recipe]) { daemon, browser in
            try daemon.write(Picture.png(width: 400, height: 300), to: "lucerne/a.png")
            let tagged = try await Programs.run(
                path: "/usr/bin/exiftool",
                [
                    "-q", "-overwrite_original", "-Make=NIKON", "-Model=NIKON Z 6", "-LensModel=Z 24-70mm f/4",
                    "-ExposureTime=1/250", "-FNumber=5.6", "-ISO=200", "-DateTimeOriginal=2026:05:01 10:11:12",
                    "-GPSLatitude=47.05", "-GPSLatitudeRef=N", "-GPSLongitude=8.3", "-GPSLongitudeRef=E",
                    daemon.path("lucerne/a.png"),
                ])
            #expect(tagged.status == 0, "\(tagged)")
            _ = try await daemon.pipectl("add", daemon.path("lucerne"), "--recipe", "web", "--wait")
            try await browser.until("\(GalleryPage.cells("done")) === 1")
            try browser.value("document.querySelector('#job-1').click()")
            try await browser.until("/NIKON Z 6/.test(\(Self.large).textContent)")
            let story = try browser.text("\(Self.large).querySelector('dl').textContent")
            for words in [
                "Z 24-70mm f/4", "1/250 s, f/5.6, ISO 200", "2026-05-01 10:11:12",
                "47.0500° N, 8.3000° E (not in the result)", "batch 1 lucerne",
            ] { #expect(story.contains(words), "\(words) in \(story)") }
            let labels = "[...document.querySelectorAll('.large .slide span')].every(one => one.checkVisibility())"
            #expect(try browser.value(labels) as? Bool == true)
        }
    }

    @Test("1:1 shows each pixel of the result, the arrows move it, and Escape shows the whole picture again")
    func zoom() async throws {
        try await GalleryPage.with(files: ["etc/recipes.d/web.recipe": "[Output]\nChain=save format=jpeg\n"]) {
            daemon, browser in
            try daemon.drop(Picture.png(width: 2000, height: 1600), as: "a.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            try await browser.until("\(GalleryPage.cells("done")) === 1")
            try browser.value("document.querySelector('#job-1').click()")
            try await browser.until("document.querySelectorAll('.large .layer img').length === 2")
            try browser.type("z")
            let image = "document.querySelector('.large .after img')"
            try await browser.until("\(image).naturalWidth === 2000 && \(image).getBoundingClientRect().width === 2000")
            try await browser.until(
                "document.querySelector('.large .before img').getBoundingClientRect().width === 2000")
            let before = try browser.number("Math.round(\(image).getBoundingClientRect().left)")
            try browser.press(.right)
            try await browser.until("Math.round(\(image).getBoundingClientRect().left) === \(before - 120)")
            try browser.press(.escape)
            try await browser.until("\(Self.large) && \(image).getBoundingClientRect().width < 1200")
            try browser.press(.escape)
            try await browser.until("!\(Self.large)")
        }
    }

    @Test("chosen files are added in their natural order, however long each takes to send")
    func natural() async throws {
        try await GalleryPage.with { daemon, browser in
            _ = try daemon.call(Call.Pause(queue: "render"))
            let names = ["img2.png", "img10.png", "img1.png", "img9.png", "img11.png"]
            for name in names {
                // The first file in natural order is the largest, so it takes longest to send.
                let side = name == "img1.png" ? 1500 : 8
                try daemon.write(Picture.png(width: side, height: side), to: "mine/\(name)")
            }
            try browser.click("#add")
            try browser.choose(names.map { daemon.path("mine/\($0)") }, in: ".adding input[type=file]")
            try await browser.until("document.querySelectorAll('.adding .files li').length === 5")
            try await browser.until("!document.querySelector('.adding .strong').disabled")
            try browser.click(".adding .strong")
            try await browser.until("!document.querySelector('.adding[open]')")
            #expect(try daemon.list().map(\.input) == ["img1.png", "img2.png", "img9.png", "img10.png", "img11.png"])
        }
    }

    @Test("a login survives a restart of the gallery, and without one a page asks for the code")
    func login() async throws {
        try await DaemonFixture.with { daemon in
            let first = try await GalleryProcess(of: daemon, ["--listen", "127.0.0.1:0"])
            let browser = try await Browser()
            try await GalleryPage.visit(daemon, browser)
            let origin = try browser.text("location.origin")
            first.process.signal(SIGTERM)
            await first.process.until { first.process.status != nil }
            let gallery = try await GalleryProcess(of: daemon, ["--listen", String(origin.dropFirst("http://".count))])
            try browser.reload()
            try await browser.until("!document.querySelector('#empty').hidden")
            try browser.press(.question)
            try await browser.until("/login ends on 20/.test(document.querySelector('.help[open]').textContent)")
            // Another browser is not logged in. Its page asks for the code.
            let stranger = try await Browser()
            try stranger.go(to: origin)
            try stranger.value("document.querySelector('#code').focus()")
            try stranger.type("wrong")
            try stranger.press(.enter)
            try await stranger.until("/has been used/.test(document.body.textContent)")
            let address = try await daemon.pipectl("gallery").output.trimmingCharacters(in: .newlines)
            let code = try #require(address.components(separatedBy: "code=").last)
            try stranger.value("document.querySelector('#code').focus()")
            try stranger.type(code)
            try stranger.press(.enter)
            try await stranger.until("!document.querySelector('#empty').hidden")
            withExtendedLifetime(gallery) {}
        }
    }
}
