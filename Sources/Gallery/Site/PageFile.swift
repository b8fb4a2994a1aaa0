/// A file of the page, which is compiled into this program.
struct PageFile {
    let type: String
    let bytes: [UInt8]

    /// All files, keyed by URL path.
    static let all: [String: PageFile] = {
        var all = [
            "/": PageFile(type: "text/html", bytes: PackageResources.index_html),
            "/icon.svg": PageFile(type: "image/svg+xml", bytes: PackageResources.icon_svg),
            "/sample.webp": PageFile(type: "image/webp", bytes: sample),
        ]
        for (name, bytes) in styles { all["/\(name).css"] = PageFile(type: "text/css", bytes: bytes) }
        for (name, bytes) in modules { all["/\(name).js"] = PageFile(type: "text/javascript", bytes: bytes) }
        return all
    }()

    /// The picture on which chains are tried if the daemon has no picture.
    static let sample = PackageResources.sample_webp

    private static let styles: [String: [UInt8]] = [
        "gallery": PackageResources.gallery_css,
        "large": PackageResources.large_css,
        "panels": PackageResources.panels_css,
    ]

    private static let modules: [String: [UInt8]] = [
        "adding": PackageResources.adding_js,
        "address": PackageResources.address_js,
        "addresses": PackageResources.addresses_js,
        "ask": PackageResources.ask_js,
        "batches": PackageResources.batches_js,
        "calls": PackageResources.calls_js,
        "cell": PackageResources.cell_js,
        "chain": PackageResources.chain_js,
        "chosen": PackageResources.chosen_js,
        "compare": PackageResources.compare_js,
        "completion": PackageResources.completion_js,
        "dom": PackageResources.dom_js,
        "drop": PackageResources.drop_js,
        "events": PackageResources.events_js,
        "exif": PackageResources.exif_js,
        "filters": PackageResources.filters_js,
        "fleet": PackageResources.fleet_js,
        "focus": PackageResources.focus_js,
        "gallery": PackageResources.gallery_js,
        "grid": PackageResources.grid_js,
        "headings": PackageResources.headings_js,
        "help": PackageResources.help_js,
        "keys": PackageResources.keys_js,
        "large": PackageResources.large_js,
        "layout": PackageResources.layout_js,
        "notices": PackageResources.notices_js,
        "pictures": PackageResources.pictures_js,
        "queues": PackageResources.queues_js,
        "ranges": PackageResources.ranges_js,
        "recipes": PackageResources.recipes_js,
        "rows": PackageResources.rows_js,
        "saving": PackageResources.saving_js,
        "scroll": PackageResources.scroll_js,
        "store": PackageResources.store_js,
        "story": PackageResources.story_js,
        "subjects": PackageResources.subjects_js,
        "top": PackageResources.top_js,
        "uploads": PackageResources.uploads_js,
        "view": PackageResources.view_js,
        "words": PackageResources.words_js,
        "work": PackageResources.work_js,
        "zoom": PackageResources.zoom_js,
    ]

    /// The Content-Security-Policy: browsers run only these scripts, and connect only to this server.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    var answer: HTTPAnswer {
        let charset = type == "image/webp" ? "" : "; charset=utf-8"
        return HTTPAnswer(status: 200, type: type + charset, body: .bytes(bytes))
            .with("Content-Security-Policy", Self.policy)
    }
}
