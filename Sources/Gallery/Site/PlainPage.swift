import PipelineControl

/// The page `/plain` for browsers without JavaScript: a paged list of jobs with plain forms.
struct PlainPage: Sendable {
    let calls: ControlCalls

    private static let rows = 50

    // MARK: - The list

    func show(_ request: HTTPRequest, _ client: HTTPCall) {
        let before = request.query["before"].flatMap { Int($0) }
        calls.call(Call.Status()) { status in
            switch status {
            case .failure(let why):
                let answer = page(["<p>\(Self.escaped("\(why)"))</p>"], status: 503)
                client.answer(request.acceptsPages ? answer : .failure(why))
            case .success(let status):
                calls.call(Call.List(states: [], limit: Self.rows, before: before)) { jobs in
                    switch jobs {
                    case .failure(let why): client.answer(.failure(why))
                    case .success(let jobs):
                        client.answer(list(status.reply.status, jobs.reply.jobs.reversed(), isFirst: before == nil))
                    }
                }
            }
        }
    }

    private func list(_ status: Control.Overview, _ jobs: [Control.Job], isFirst: Bool) -> HTTPAnswer {
        let counts = status.jobs
        let unfinished = counts.waiting + counts.queued + counts.running
        let states = [
            (counts.waiting, "waiting"), (counts.queued, "queued"), (counts.running, "running"), (counts.done, "done"),
            (counts.failed, "failed"), (counts.cancelled, "cancelled"),
        ].filter { $0.0 > 0 }.map { "\(Self.number($0.0)) \($0.1)" }
        var parts = ["<p>\(states.isEmpty ? "No pictures yet" : states.joined(separator: ", ")).</p>"]
        parts += status.problems.map { "<p><strong>\(Self.escaped($0))</strong></p>" }
        parts += status.fleet.map(Self.fleet) ?? []
        if unfinished > 0 { parts.append(Self.form("cancel-all", nil, "Cancel all \(Self.number(unfinished))")) }
        if counts.failed > 0 {
            parts.append(Self.form("retry-failed", nil, "Retry all \(Self.number(counts.failed)) failed"))
        }
        parts.append(
            "<table><caption>Pictures, the newest first</caption><tr><th>Number<th>Name<th>State<th>Picture<th>Action</tr>"
        )
        parts += jobs.map(Self.row)
        parts.append("</table><p>")
        if !isFirst { parts.append("<a href=\"/plain\">The newest</a> ") }
        if jobs.count == Self.rows, let last = jobs.last {
            parts.append("<a href=\"/plain?before=\(last.id)\">Older ones</a>")
        }
        parts.append("</p>")
        return page(parts)
    }

    private static func row(_ job: Control.Job) -> String {
        let state = ([job.state] + [[job.reason, job.error].compactMap(\.self).joined(separator: "; ")])
            .filter { !$0.isEmpty }.joined(separator: ": ")
        let original = job.bytes == nil ? [] : ["<a href=\"/pictures/\(job.id)?width=1280\">original</a>"]
        let pictures =
            original
            + (job.state == "done"
                ? job.after.indices.map { "<a href=\"/pictures/\(job.id)/\($0 + 1)?width=1280\">result \($0 + 1)</a>" }
                : [])
        let action =
            switch job.state {
            case "waiting", "queued", "running": form("cancel", job.id, "Cancel")
            case "failed", "cancelled": form("retry", job.id, "Retry")
            default: ""
            }
        return """
            <tr><td>\(job.id)<td>\(escaped(job.input))<td>\(escaped(state))\
            <td>\(pictures.joined(separator: ", "))<td>\(action)</tr>
            """
    }

    /// A number with narrow spaces between its thousands, as on the page with JavaScript.
    private static func number(_ value: Int) -> String {
        let digits = String(value)
        return digits.enumerated().map { index, digit in
            let left = digits.count - index
            return (index > 0 && left % 3 == 0 ? "\u{202f}" : "") + String(digit)
        }.joined()
    }

    private static func form(_ action: String, _ id: Int?, _ words: String) -> String {
        """
        <form method="post" action="/plain"><input type="hidden" name="do" value="\(action)">\
        <input type="hidden" name="id" value="\(id.map { "\($0)" } ?? "")"><button>\(words)</button></form>
        """
    }

    private func page(_ parts: [String], status: Int = 200) -> HTTPAnswer {
        let text = """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>pipelined</title><link rel="icon" href="/icon.svg">
            <link rel="stylesheet" href="/gallery.css"><body class="plain"><main><h1>pipelined</h1>
            \(parts.joined(separator: "\n"))
            </main></html>
            """
        return HTTPAnswer.text(status, text, type: "text/html; charset=utf-8")
            .with("Content-Security-Policy", PageFile.policy)
    }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { text, letter in
            switch letter {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(letter)
            }
        }
    }

    // MARK: - The forms

    func act(_ request: HTTPRequest, _ client: HTTPCall) {
        let fields = String(decoding: request.bytes, as: UTF8.self).split(separator: "&").map {
            $0.split(separator: "=")
        }
        let values = Dictionary(fields.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }) { $1 }
        let ids = values["id"].flatMap { Int($0) }.map { [$0] }
        switch (values["do"], ids) {
        case ("cancel", let ids?): act(Call.Cancel(ids: ids), client)
        case ("retry", let ids?): act(Call.Retry(ids: ids, states: []), client)
        case ("cancel-all", _): act(Call.CancelAll(), client)
        case ("retry-failed", _): act(Call.Retry(ids: [], states: ["failed"]), client)
        default: client.answer(.failure(400, "this form's action is unknown"))
        }
    }

    private func act(_ call: some ControlCall, _ client: HTTPCall) {
        calls.call(call, patience: 600) { answer in
            switch answer {
            case .success: client.answer(HTTPAnswer.text(303, "done").with("Location", "/plain"))
            case .failure(let why): client.answer(.failure(why))
            }
        }
    }
}
