/// A URL as people name it.
enum WebName {
    /// Host and path. User, password, query and fragment are left out, because they may be secret.
    static func short(_ url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[1].isEmpty else { return url }
        let host = parts[2].split(separator: "@", omittingEmptySubsequences: false).last ?? parts[2]
        let path = parts.count > 3 ? "/" + parts[3] : ""
        return String((String(host) + path).prefix { $0 != "?" && $0 != "#" })
    }
}
