import PipelineControl

extension [String: Control.Queue] {
    /// The queues in the order in which a picture passes through them, then any other queues.
    private var inOrder: [(name: String, queue: Control.Queue)] {
        let order = ["download", "render", "publish", "announce"]
        func place(_ name: String) -> Int { order.firstIndex(of: name) ?? order.count }
        return map { (name: $0.key, queue: $0.value) }
            .sorted { (place($0.name), $0.name) < (place($1.name), $1.name) }
    }

    func lines(width: Int?) -> [Text] {
        var table = Table([
            .init(title: "QUEUE"), .init(title: "RUNNING", right: true), .init(title: "LIMIT", right: true),
            .init(title: "WAITING", right: true), .init(title: "", fit: .words),
        ])
        for (name, queue) in inOrder {
            table.add(
                Text(name), Text("\(queue.running)", queue.running > 0 ? .busy : .plain), queue.limitText,
                "\(queue.waiting)", queue.reasonText)
        }
        return table.lines(width: width)
    }
}

extension Control.Queue {
    /// The limit: `4`, `auto: 4`, or `2 of 4` while the effective limit differs from the configured one.
    fileprivate var limitText: Text {
        guard let configured else { return "auto: \(effective)" }
        return configured == effective ? "\(effective)" : "\(effective) of \(configured)"
    }

    /// Why operations wait.
    fileprivate var reasonText: Text {
        guard paused else { return Text(held ?? "", .halted) }
        return Text(reason.map { "paused: \($0)" } ?? "paused", .halted)
    }
}
