/// The hosts that may have private addresses, in the form `host`, `host:port`, `[v6]` or `[v6]:port`.
struct PrivateHosts {
    private let named: Set<String>

    init(_ names: [String]) { named = Set(names.map { $0.lowercased() }) }

    /// `host` has libcurl's form: an IPv6 address is in brackets.
    func contains(_ host: String, port: String) -> Bool {
        let host = host.lowercased()
        return named.contains(host) || named.contains("\(host):\(port)")
    }
}
