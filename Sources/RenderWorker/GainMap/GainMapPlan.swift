import PipelineModel
import WorkerProtocol

/// Whether a result keeps the picture's gain map, and if not, why.
enum GainMapPlan {
    /// The source has no gain map, the chain sets `hdr=drop`, or the file only passes a picture on across a barrier.
    case none
    case kept(GainMapPlacement)
    /// Why the result loses the gain map, in words.
    case lost(String)

    /// `orientation`, `width` and `height` describe the stored picture.
    init(
        _ finding: GainMap.Finding, _ stages: [Stage], stored width: Int, _ height: Int, orientation: Int,
        _ filters: FilterLibrary
    ) {
        guard let save = stages.last.map(SaveStage.init), save.hdr != .drop, !save.isHandOver else {
            self = .none
            return
        }
        switch finding {
        case .none: self = .none
        case .unusable(let reason): self = .lost(reason)
        case .found where save.format != "jpeg": self = .lost("\(save.format) can't hold it")
        case .found(let map):
            if case .apple(_, hasHeadroom: false) = map.form, !save.keepsMakersNotes {
                self = .lost("its headroom is in the maker's notes, which metadata= leaves out")
                return
            }
            do throws(Loss) {
                var placement = GainMapPlacement(stored: width, height, orientation: orientation)
                for stage in stages.dropLast() { placement = try Self.follow(stage, from: placement, filters) }
                self = .kept(placement)
            } catch {
                self = .lost(error.reason)
            }
        }
    }

    private struct Loss: Error {
        var reason: String
    }

    private static func follow(
        _ stage: Stage, from placement: GainMapPlacement, _ filters: FilterLibrary
    ) throws(Loss) -> GainMapPlacement {
        let traits = filters.traits(stage)
        var next: GainMapPlacement? = placement
        if let resize = ResizeStage(stage) {
            next = placement.resized(to: resize.target(placement.width, placement.height))
        } else if traits.contains(.movesPixels) {
            guard let moved = filters.filters[stage.name]?.arrangement(stage, placement.width, placement.height) else {
                throw Loss(reason: "\(stage.name) chooses its part by the picture's content")
            }
            next = placement.arranged(moved)
        } else if traits.contains(.keepsGainMap) {
            next?.isLuma = placement.isLuma || traits.contains(.lumaOnly)
        } else {
            throw Loss(reason: "it does not match the result of \(stage.name)")
        }
        guard let next else { throw Loss(reason: "\(stage.name) crops the whole picture away") }
        return next
    }

    /// Throws if an output requires the gain map but would lose it.
    func check(_ stages: [Stage]) throws(WorkerFailure) {
        guard case .lost(let reason) = self, stages.last.map(SaveStage.init)?.hdr == .require else { return }
        throw WorkerFailure(losingGainMap: reason)
    }

    /// The plan in words, for `explain`; nil if there is nothing to say.
    var words: String? {
        switch self {
        case .none: nil
        case .kept(let placement): placement.isLuma ? "gain map kept, as luma only" : "gain map kept"
        case .lost(let reason): "gain map lost: \(reason)"
        }
    }
}

extension WorkerFailure {
    init(losingGainMap reason: String) {
        self.init(
            stage: SaveStage.name, message: "the result would lose the gain map, which hdr=require forbids: \(reason)",
            advice: "change the chain, or write hdr=keep, which saves the picture without it; then pipectl retry")
    }
}
