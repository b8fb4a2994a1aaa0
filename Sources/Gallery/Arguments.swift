import DaemonRuntime
import PipelineControl
import SystemCalls

/// The wishes of the command line.
struct Arguments {
    enum Task: Equatable { case run, manual, help, version }

    /// The options; the help and the manual are made of this.
    enum Option: String, ProgramOption {
        static let program = "pipelined-gallery"

        case root = "--root"
        case instance = "--instance"
        case socket = "--socket"
        case metricsListen = "--metrics-listen"
        case clients = "--clients"
        case headers = "--headers"
        case silence = "--silence"
        case man = "--man"
        case version = "--version"
        case help = "--help"

        var value: String? {
            switch self {
            case .root: "DIR"
            case .instance: "NAME"
            case .socket: "PATH"
            case .metricsListen: "ADDRESS:PORT"
            case .clients: "N"
            case .headers: "BYTES"
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
            case .metricsListen:
                "serve /metrics and /healthz there as well, to anybody: 127.0.0.1:9188 or [::1]:9188"
            case .clients: "as many at once, from 1 to 10000 (\(HTTPServer.Limits().clients)); others wait"
            case .headers: "a request's headers, from 1024 to 1048576 bytes (\(HTTPServer.Limits().headers))"
            case .silence:
                "who neither sends nor reads for so long is closed, from 1 to 3600 s (\(HTTPServer.Limits().silence))"
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
    var metrics: InternetAddress?
    var limits = HTTPServer.Limits()

    init(_ words: some Sequence<String>) throws(UsageError) {
        for (option, value) in try Option.read(words) {
            switch option {
            case .root: root = value
            case .instance: instance = value
            case .socket: socket = value
            case .metricsListen:
                guard let address = InternetAddress(value) else {
                    throw Option.misuse("'\(value)' is no address with a port, as 127.0.0.1:9188 or [::1]:9188")
                }
                metrics = address
            case .clients: limits.clients = try Self.number(value, of: option, in: 1...10_000)
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
