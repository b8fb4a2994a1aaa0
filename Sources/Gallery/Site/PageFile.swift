/// A file of the page, which is part of this program.
struct PageFile {
    let type: String
    let bytes: [UInt8]

    /// By their paths.
    static let all: [String: PageFile] = [
        "/": PageFile(type: "text/html", bytes: PackageResources.index_html),
        "/gallery.css": PageFile(type: "text/css", bytes: PackageResources.gallery_css),
        "/gallery.js": PageFile(type: "text/javascript", bytes: PackageResources.gallery_js),
    ]

    /// The browser runs nothing but these files, and talks to nobody but this server.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    var answer: HTTPAnswer {
        HTTPAnswer(status: 200, type: "\(type); charset=utf-8", body: .bytes(bytes))
            .with("Content-Security-Policy", Self.policy)
    }
}
