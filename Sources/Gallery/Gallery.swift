import Dispatch
import Glibc
import PipelineControl
import ServiceProgram
import SystemCalls

/// Composes the program. Each server has a listening socket and a site.
final class Gallery {
    private let servers: [HTTPServer]
    private let signals: [any DispatchSourceSignal]

    init(_ arguments: Arguments) throws {
        let control = SocketAddress(
            socket: arguments.socket, root: arguments.root, instance: arguments.instance,
            variable: getenv(SocketAddress.variable).map { String(cString: $0) })
        // All parts share one executor, so they run on one serial queue.
        let executor = QueueExecutor("pipelined-gallery")
        let calls = ControlCalls(path: control.path, on: executor)
        let monitor = MonitorSite(calls: calls)
        let (events, previews) = (EventHub(calls, on: executor), PreviewDesk(calls, on: executor))
        let batches = OpenBatches(calls, on: executor)
        let hosts = Guard.loopback.union(arguments.hosts)
        let tokens = Tokens(StateFile("gallery-tokens", beside: control.path))
        let listeners = try Listeners(
            arguments, beside: control.path,
            page: { door, login in
                GallerySite(
                    calls: calls, events: events, previews: previews, batches: batches, monitor: monitor,
                    limits: arguments.siteLimits,
                    guardian: Guard(hosts: hosts, door: door, tokens: tokens), login: login)
            }, monitor: monitor)
        servers = try listeners.all.map { listener in
            let server = HTTPServer(listener.site, limits: arguments.limits, on: executor)
            try server.begin(at: listener.socket)
            return server
        }
        let own = listeners.own
        signals = [SIGTERM, SIGINT].map { number in
            DispatchSource.signal(number, on: executor.queue) {
                if let own { unlink(own) }
                exit(0)
            }
        }
        let places = listeners.all.map(\.name).joined(separator: " and ")
        Log.notice("pipelined-gallery \(Release.version) serves the daemon at \(control.path): at \(places)")
        ServiceManager.notify("READY=1", "STATUS=serving at \(places)")
    }

    func run() -> Never { dispatchMain() }
}
