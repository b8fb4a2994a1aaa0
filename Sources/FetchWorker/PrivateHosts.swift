/// The hosts whose addresses may be private: `host`, `host:port`, `[v6]`, `[v6]:port`.
struct PrivateHosts {
    private let named: Set<String>

    init(_ names: [String]) { named = Set(names.map { $0.lowercased() }) }

    /// Expects `host` as in libcurl's URLs: an IPv6 address in brackets.
    func contains(_ host: String, port: String) -> Bool {
        let host = host.lowercased()
        return named.contains(host) || named.contains("\(host):\(port)")
    }
}
