import PipelineControl

/// What a monitor asks for: the daemon's figures, and whether it answers.
struct MonitorSite: HTTPSite {
    let calls: ControlCalls

    var longestBody: Int { 0 }

    func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        guard request.method == "GET" || request.method == "HEAD" else { return done(.wrongMethod("GET", "HEAD")) }
        switch request.path {
        case "/metrics":
            let format = MetricsFormat.wanted(by: request.values("accept"))
            calls.call(Call.Metrics()) { answer in
                done(answer.page { .text(200, $0.metrics.text(format), type: format.type) })
            }
        case "/healthz":
            calls.call(Call.Status()) { answer in done(answer.page { Self.health($0.status) }) }
        default:
            let known = "/metrics has the daemon's figures, /healthz says whether it answers"
            done(.text(404, "there is nothing at \(request.path.prefix(80)); \(known)"))
        }
    }

    /// Problems that the daemon tells of do not make it unhealthy: to start it anew would not end them.
    private static func health(_ status: Control.Overview) -> HTTPAnswer {
        status.stopping
            ? .text(503, "the daemon is stopping") : .text(200, (["ok"] + status.problems).joined(separator: "\n"))
    }
}

extension Result where Failure == NoAnswer {
    /// The page of an answer, or one that says why there is none.
    fileprivate func page(_ make: (Success) -> HTTPAnswer) -> HTTPAnswer {
        switch self {
        case .success(let reply): make(reply)
        case .failure(let reason): .text(503, "\(reason)")
        }
    }
}
