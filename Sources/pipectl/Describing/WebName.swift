/// A URL as people name it.
enum WebName {
    /// Host and path. The daemon has hidden already what is secret in the URL.
    static func short(_ url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "?" && $0 != "#" })
    }
}
