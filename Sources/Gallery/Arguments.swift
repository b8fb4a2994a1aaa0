import PipelineControl
import ServiceProgram
import SystemCalls

/// The parsed command line.
struct Arguments {
    enum Task: Equatable { case run, manual, help, version }

    /// The options. The help and the manual page are generated from them.
    enum Option: String, ProgramOption {
        static let program = "pipelined-gallery"

        case root = "--root"
        case instance = "--instance"
        case socket = "--socket"
        case listen = "--listen"
        case host = "--host"
        case metricsListen = "--metrics-listen"
        case clients = "--clients"
        case streams = "--streams"
        case headers = "--headers"
        case body = "--body"
        case silence = "--silence"
        case man = "--man"
        case version = "--version"
        case help = "--help"

        var value: String? {
            switch self {
            case .root: "DIR"
            case .instance: "NAME"
            case .socket: "PATH"
            case .listen, .metricsListen: "ADDRESS:PORT"
            case .host: "NAME"
            case .clients, .streams: "N"
            case .headers, .body: "BYTES"
            case .silence: "SECONDS"
            case .man, .version, .help: nil
            }
        }

        var help: String {
            switch self {
            case .root: "serve the daemon that was started with --root DIR"
            case .instance: "serve the daemon pipelined@NAME"
            case .socket:
                "the daemon's control socket; else $\(SocketAddress.variable), else \(SocketAddress.systemPath)"
            case .listen:
                "serve the page at a port, such as 127.0.0.1:8080; `pipectl gallery` prints the login"
            case .host: "a name that browsers use for this server behind a proxy; may be repeated"
            case .metricsListen:
                "also serve /metrics and /healthz there, to anyone: 127.0.0.1:9188 or [::1]:9188"
            case .clients: "maximum clients at once, from 1 to 10000 (\(HTTPServer.Limits().clients)); others wait"
            case .streams:
                "maximum browsers that receive events at once, from 1 to 10000 (\(GallerySite.Limits().streams))"
            case .headers:
                "maximum size of a request's headers, from 1024 to 1048576 bytes (\(HTTPServer.Limits().headers))"
            case .body:
                "maximum size of a call's body, from 1024 to 1048576 bytes (\(GallerySite.Limits().body)); MaxSize= "
                    + "limits uploads"
            case .silence:
                "disconnect a client that is silent, or sends no full head, for this long, from 1 to 3600 s "
                    + "(\(HTTPServer.Limits().silence))"
            case .man: "print the manual page, for `man -l -`"
            case .version: "print the version"
            case .help: "print the help"
            }
        }
    }

    var task = Task.run
    var root: String?
    var instance: String?
    var socket: String?
    var listen: InternetAddress?
    var hosts: Set<String> = []
    var metrics: InternetAddress?
    var limits = HTTPServer.Limits()
    var siteLimits = GallerySite.Limits()

    init(_ words: some Sequence<String>) throws(UsageError) {
        for (option, value) in try Option.read(words) {
            switch option {
            case .root: root = value
            case .instance: instance = value
            case .socket: socket = value
            case .listen:
                let address = try Self.address(value)
                guard address.isLoopback else {
                    throw Option.misuse(
                        "--listen takes only an address of this machine, as 127.0.0.1:8080, not '\(value)'; ssh -L or a proxy "
                            + "brings the page to others")
                }
                listen = address
            case .host: hosts.insert(value.lowercased())
            case .metricsListen: metrics = try Self.address(value)
            case .clients: limits.clients = try Self.number(value, of: option, in: 1...10_000)
            case .streams: siteLimits.streams = try Self.number(value, of: option, in: 1...10_000)
            case .body: siteLimits.body = try Self.number(value, of: option, in: 1024...1_048_576)
            case .headers: limits.headers = try Self.number(value, of: option, in: 1024...1_048_576)
            case .silence: limits.silence = try Self.number(value, of: option, in: 1...3600)
            case .man: task = .manual
            case .version: task = .version
            case .help: task = .help
            }
        }
        if [root, instance, socket].compactMap(\.self).count > 1 {
            throw Option.misuse("--root, --instance and --socket exclude each other")
        }
    }

    private static func address(_ text: String) throws(UsageError) -> InternetAddress {
        if let address = InternetAddress(text) { return address }
        throw Option.misuse("'\(text)' is not an address with a port, as 127.0.0.1:9188 or [::1]:9188")
    }

    private static func number(
        _ text: String, of option: Option, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Option.misuse(
                "\(option.rawValue) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }
}
