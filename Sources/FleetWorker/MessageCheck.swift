import PipelineModel
import SystemCalls
import WorkerProtocol

/// Rejects implausible messages, because a stranger may have sent them.
enum MessageCheck {
    private static let mostSide = 1 << 20
    private static let mostPages = 1 << 16

    static func accepts(_ picture: LentPicture) -> Bool {
        picture.isPlausible && accepts(picture.bytes) && accepts(picture.filters)
            && picture.outputs.allSatisfy { (1...100).contains($0.stages.count) && isShort($0.name, 255) }
            && isShort(picture.name, 1024)
    }

    private static func accepts(_ filters: [String: String]) -> Bool {
        filters.count <= 200 && filters.allSatisfy { isShort($0.key, 64) && isShort($0.value, 64) }
    }

    private static func accepts(_ bytes: LentBytes) -> Bool {
        switch bytes {
        case .sources(let sizes): sizes.allSatisfy { $0 <= 1 << 40 }
        case .url(let url, _): isShort(url, WebAddress.longest)
        }
    }

    static func accepts(_ result: LentResult, of picture: LentPicture) -> Bool {
        accepts(result.downloaded, of: picture.bytes) && accepts(result.header, outputs: picture.outputs.count)
            && result.outputs.count == picture.outputs.count && result.digests.count == picture.outputs.count
            && result.outputs.allSatisfy(accepts)
            && zip(result.outputs, result.digests).allSatisfy {
                $0.bytes == $1.bytes && (1...picture.limits.maxResult).contains($0.bytes)
            }
            && zip(result.outputs, result.digests).allSatisfy { $0.hash == nil || $0.hash == $1.sha256 }
    }

    private static func accepts(_ header: PictureHeader, outputs: Int) -> Bool {
        header.isPlausible(outputs: outputs) && isShort(header.format, 40)
            && isSize(header.width, header.height, header.bands)
            && (1...64).contains(header.bitsPerSample) && (1...mostPages).contains(header.pages)
            && (0...8).contains(header.orientation) && isShort(header.profile, 500)
            && header.decoderPaths.allSatisfy { isShort($0, 200) } && header.framesTaken.allSatisfy { $0 <= mostPages }
            && isShort(header.gainMap, 100) && header.gainMapPlans.allSatisfy { isShort($0, 200) }
    }

    /// Checks only the length of `file.name`. The web server chose that name. The origin makes a valid file name from
    /// it, as it does for its own downloads.
    private static func accepts(_ file: FetchedFile?, of bytes: LentBytes) -> Bool {
        switch (file, bytes) {
        case (nil, .sources): true
        case (let file?, .url(_, let most)):
            (0...most).contains(file.bytes) && isShort(file.url, WebAddress.longest)
                && (file.name?.utf8.count ?? 0) <= 4096
        default: false
        }
    }

    private static func accepts(_ output: RenderedOutput) -> Bool {
        output.isPlausible && isShort(output.format, 40) && isSize(output.width, output.height, output.bands)
            && (1...mostPages).contains(output.pages ?? 1) && (output.lost ?? []).count <= 20
            && (output.lost ?? []).allSatisfy { isShort($0, 200) } && isShort(output.hash, 64)
            && isShort(output.gainMap, 200)
    }

    private static func isSize(_ width: Int, _ height: Int, _ bands: Int) -> Bool {
        (1...mostSide).contains(width) && (1...mostSide).contains(height) && (1...100).contains(bands)
    }

    private static func isShort(_ text: String?, _ most: Int) -> Bool {
        guard let text else { return true }
        return text.utf8.count <= most && !text.unicodeScalars.contains(where: \.drivesTerminals)
    }

    /// The node's failure, made printable and truncated.
    static func printable(_ failure: WorkerFailure, by node: String) -> WorkerFailure {
        var printed = failure
        printed.stage = shown(failure.stage, 64)
        printed.message = "\(shown(failure.message, 2000)) (on the node \(node))"
        printed.advice = failure.advice.map { shown($0, 1000) }
        printed.filter = failure.filter.map { shown($0, 64) }
        return printed
    }

    /// A node's reason for refusing, made printable and truncated.
    static func printable(_ reason: String) -> String { shown(reason, 1000) }

    private static func shown(_ text: String, _ most: Int) -> String { String(text.prefix(most)).printable }

    static func accepts(_ command: NodeCommand) -> Bool {
        switch command {
        case .pause(let queue, let reason): isShort(queue, 64) && isShort(reason, 1000)
        case .resume(let queue): isShort(queue, 64)
        case .concurrency(let queue, let limit, _): isShort(queue, 64) && isShort(limit, 64)
        case .cancelAll, .drain: true
        case .ask(let question): isShort(question.parameters, NodeQuestion.longest)
        }
    }

    /// A node's report on a command, reduced to its printable and plausible parts.
    static func printable(_ report: NodeReport) -> NodeReport {
        let queues = report.queues.prefix(16).filter { isShort($0.name, 64) && isShort($0.reason, 1000) }
        return NodeReport(
            error: report.error.map { shown($0, 2000) }, cancelled: report.cancelled.map { max(0, $0) },
            queues: Array(queues),
            reply: report.reply.flatMap { $0.utf8.count <= NodeReport.longestReply ? $0 : nil })
    }

    /// Whether the node's description is plausible and printable.
    static func accepts(_ node: FleetNode) -> Bool {
        NodeName.isOne(node.name) && isShort(node.version, 40) && accepts(node.filters) && node.isPlausible
    }
}
