/// The answer to a request without a session: a page with a field for the code, or an error for programs.
enum LoginPage {
    /// The files that the page needs. They are served without a session.
    static let files: Set<String> = ["/gallery.css", "/icon.svg"]

    static func answer(to request: HTTPRequest, _ words: String) -> HTTPAnswer {
        let isPage = request.isReading && request.acceptsPages
        let answer = isPage ? page(words) : HTTPAnswer.failure(401, words)
        return answer.with("WWW-Authenticate", "Cookie")
    }

    private static func page(_ words: String) -> HTTPAnswer {
        let text = """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
            <title>Log in · pipelined</title><link rel="icon" href="/icon.svg">
            <link rel="stylesheet" href="/gallery.css"><body class="plain login"><main>
            <img src="/icon.svg" alt="" width="64" height="64"><h1>pipelined</h1>
            <p>\(words.split(separator: "`", omittingEmptySubsequences: false).enumerated().map {
                $0.offset % 2 == 1 ? "<code>\(PlainPage.escaped(String($0.element)))</code>"
                    : PlainPage.escaped(String($0.element))
            }.joined())</p>
            <p>Run it on the machine of the daemon, and open the address, or enter its code here.</p>
            <form action="/"><label for="code">Code</label>
            <input id="code" name="code" type="text" required autofocus autocomplete="off" spellcheck="false">
            <button>Log in</button></form>
            <p class="faint">A code works once, within 15 minutes. A login lasts until a week has passed without a visit.</p>
            </main></html>
            """
        return HTTPAnswer.text(401, text, type: "text/html; charset=utf-8")
            .with("Content-Security-Policy", PageFile.policy)
    }
}
