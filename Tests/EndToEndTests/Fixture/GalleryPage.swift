import Foundation
import TestTools
import Testing

/// The gallery's page in a browser, and JavaScript expressions about it.
enum GalleryPage {
    private static let files = ["etc/pipelined.conf": "[Download]\nAllowPrivateHosts=127.0.0.1\n"]

    /// Runs `body` with a daemon and with a logged-in browser that shows the gallery's page.
    static func with(
        width: Int = 1200, height: Int = 900, files: [String: String] = files,
        _ body: (DaemonFixture, Browser) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(files) { daemon in
            let gallery = try await GalleryProcess(of: daemon, ["--listen", "127.0.0.1:0"])
            let browser = try await Browser(width: width, height: height)
            try await visit(daemon, browser)
            try await body(daemon, browser)
            withExtendedLifetime(gallery) {}
        }
    }

    static func visit(_ daemon: DaemonFixture, _ browser: Browser) async throws {
        let address = try await daemon.pipectl("gallery").output.trimmingCharacters(in: .newlines)
        try browser.go(to: address)
        try await browser.until(
            "!document.querySelector('#empty').hidden || document.querySelector('.cell:not([hidden])')")
    }

    static func cells(_ state: String? = nil) -> String {
        let state = state.map { "[data-state=\($0)]" } ?? ""
        return "document.querySelectorAll('.cell:not([hidden])\(state)').length"
    }

    /// Returns a JavaScript condition that is true if the job's cell shows this picture and no other.
    static func shows(_ job: Int, _ path: String) -> String {
        """
        (images => images.length === 1 && images[0].dataset.path.startsWith('/pictures/\(path)?'))(\
        document.querySelectorAll('#job-\(job) .frame img'))
        """
    }
}
