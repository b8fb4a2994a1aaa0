import PipelineControl

extension Control.Progress {
    /// The finished amount: `3.4 MB`, `12.1 MP`.
    var amount: String { Self.text(done, unit) }

    /// The percentage, such as `38 %`. It is rounded down, so that it shows 100 only when everything is done.
    var percent: String? { fraction.map { "\(Int(nearest: ($0 * 100).rounded(.down))) %" } }

    /// `1.2 MB/s`
    var rateText: String? { rate.map { Self.text(Int(nearest: $0), unit) + "/s" } }

    /// The remaining time. It is at least a second, because the work is not done yet.
    var left: String? { remaining.map { Moment.duration(max(1, $0)) } }

    /// In one line: `38 % of 4.1 MB, 1.2 MB/s, 2 s left`.
    var words: String {
        var share: String?
        if let percent, let total { share = "\(percent) of \(Self.text(total, unit))" }
        let left = left.map { "\($0) left" }
        return [share ?? amount, rateText, left].compactMap(\.self).joined(separator: ", ")
    }

    private static func text(_ count: Int, _ unit: String) -> String {
        switch unit {
        case "bytes": Amount.bytes(count)
        case "pixels": Amount.pixels(count)
        default: "\(count)"
        }
    }
}

extension Call.Progress.Reply {
    /// The number of unfinished jobs, such as `, 12 still open`; empty if there are none.
    var stillOpen: Text {
        let open = (batches.map(\.progress) + [others]).map { ($0.total ?? 0).beyond($0.done) }.sum
        return open > 0 ? ", \(open) still open" : Text()
    }
}
