public import PipelineModel

/// Checks the numbers in workers' messages. A worker reads foreign bytes and may be compromised, so the supervisor
/// neither computes with a number nor uses an index before this check. Sums and products of plausible numbers don't
/// overflow.
enum Plausible {
    static let mostBytes: Int64 = 1 << 50
    static let mostPixels: Int64 = 1 << 54
    static let mostOutputs = 1 << 16
}

extension WorkerMessage {
    /// Whether this message can be true of a picture with this number of results.
    public func isPlausible(results: Int) -> Bool {
        switch self {
        case .opened(let header), .rendering(let header): header.isPlausible(outputs: results)
        case .made(let header, let outputs): header.isPlausible(outputs: results) && outputs.arePlausible(results)
        case .rendered(let outputs): outputs.arePlausible(results)
        case .progress(let done, let total): done >= 0 && total >= 0
        case .loading, .hello, .failed, .cancelled, .said, .crashed: true
        }
    }
}

extension FleetMessage {
    /// Whether this message can be true. `lent` returns the number of results of a lent picture, by its ID.
    public func isPlausible(results lent: (Int) -> Int?) -> Bool {
        switch self {
        case .node(let node, _): node.isPlausible
        case .progress(_, let done, let total): done >= 0 && total >= 0
        case .made(let id, let header, let outputs, let file):
            // A picture that has been taken back is no longer lent, so its number of results is unknown.
            lent(id).map { header.isPlausible(outputs: $0) && outputs.arePlausible($0) } ?? true
                && (0...Plausible.mostBytes).contains(file?.bytes ?? 0)
        case .offered(_, let picture, _): picture.isPlausible
        case .hello, .line, .forgotten, .begun, .failed, .returned, .untaken, .fetched, .withdrawn, .delivered,
            .answered, .commanded, .pong:
            true
        }
    }
}

extension PictureHeader {
    public func isPlausible(outputs: Int) -> Bool {
        guard decoderPaths.count == outputs, framesTaken.count == outputs, gainMapPlans.count == outputs,
            outputs <= Plausible.mostOutputs,
            width > 0, height > 0, pages > 0, framesTaken.allSatisfy({ (1...1 << 20).contains($0) })
        else { return false }
        let (area, isTooLarge) = Int64(width).multipliedReportingOverflow(by: Int64(height))
        let (pixels, isMore) = area.multipliedReportingOverflow(by: Int64(framesTaken.reduce(0, +)))
        return !isTooLarge && !isMore && pixels <= Plausible.mostPixels && (0...Plausible.mostBytes).contains(memory)
    }
}

extension RenderedOutput {
    public var isPlausible: Bool {
        width > 0 && height > 0 && (pages ?? 1) > 0 && (0...Plausible.mostBytes).contains(bytes)
    }
}

extension [RenderedOutput] {
    fileprivate func arePlausible(_ count: Int) -> Bool { self.count == count && allSatisfy(\.isPlausible) }
}

extension LentPicture {
    public var isPlausible: Bool {
        let hasBytes =
            switch bytes {
            case .sources(let sizes):
                (1...16).contains(sizes.count) && sizes.allSatisfy { (0...Plausible.mostBytes).contains($0) }
            case .url(_, let most): most > 0
            }
        return hasBytes && (1...60).contains(outputs.count) && limits.maxPixels > 0 && limits.maxTexts >= 0
            && limits.maxResult > 0
    }
}

extension FleetNode {
    public var isPlausible: Bool { [places, taken, lent].allSatisfy { (0...1_000_000).contains($0) } }
}
