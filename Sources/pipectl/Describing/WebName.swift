/// Short names for URLs.
enum WebName {
    /// The host and the path of a URL in which the daemon has already masked all secrets.
    static func short(_ url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "?" && $0 != "#" })
    }
}
