/// A URL as people name it.
enum WebName {
    /// Host and path of a URL. The daemon has hidden its secrets already.
    static func short(_ url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "?" && $0 != "#" })
    }
}
