import PipelineControl

/// Serves monitoring programs: `/metrics` contains the daemon's metrics, `/healthz` shows whether the daemon answers.
struct MonitorSite: HTTPSite {
    let calls: ControlCalls

    func route(_ request: HTTPRequest) -> HTTPRoute {
        switch request.path {
        case "/metrics", "/healthz":
            return request.isReading ? .plain(answer) : .refused(.wrongMethod("GET", "HEAD"))
        default:
            let known = "/metrics has the daemon's figures, /healthz says whether it answers"
            return .refused(.failure(404, "there is nothing at \(request.path.prefix(80)); \(known)"))
        }
    }

    private func answer(_ request: HTTPRequest, _ client: HTTPCall) {
        if request.path == "/metrics" {
            let format = MetricsFormat.wanted(by: request.values("accept"))
            calls.call(Call.Metrics()) { answer in
                client.answer(answer.page { .text(200, $0.metrics.text(format), type: format.type) })
            }
        } else {
            calls.call(Call.Status()) { answer in client.answer(answer.page { Self.health($0.status) }) }
        }
    }

    /// The daemon counts as healthy even if it reports problems, because a restart would not solve them. The page shows
    /// only the number of problems: their texts contain paths, and anyone may read the page.
    private static func health(_ status: Control.Overview) -> HTTPAnswer {
        guard !status.stopping else { return .failure(.away("the daemon is stopping")) }
        let count = status.problems.count
        let problems = count == 1 ? "1 problem" : "\(count) problems"
        return .text(200, count == 0 ? "ok" : "ok\n\(problems): see `pipectl status`")
    }
}

extension Result where Failure == NoAnswer {
    /// Makes the page from the daemon's reply. If there is no reply, makes an error page that shows the reason.
    fileprivate func page<Reply>(_ make: (Reply) -> HTTPAnswer) -> HTTPAnswer
    where Success == ControlCalls.Answered<Reply> {
        switch self {
        case .success(let answered): make(answered.reply)
        case .failure(let reason): .failure(.away("\(reason)"))
        }
    }
}
