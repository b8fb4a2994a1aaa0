import PipelineModel
import SystemCalls

/// An output whose condition the original does not meet.
struct UnwantedOutput: Sendable {
    var output: String?
    var reason: String

    var words: String { (output.map { "\($0): " } ?? "") + reason }
}

/// The pictures that a render operation makes, grouped by source. Excludes pictures whose conditions the original does
/// not meet.
struct RenderChoice: Sendable {
    /// Pictures that are made from one source in one task.
    struct Part: Sendable {
        var source: Int?
        var pictures: [PlannedPicture] = []
        var staging: [String] = []
    }

    private(set) var parts: [Part]
    /// Outputs whose conditions the original does not meet. Nil until the conditions have been evaluated.
    private(set) var unwanted: [UnwantedOutput]?
    private let all: [(picture: PlannedPicture, staging: String)]

    /// `staging` contains a path for each picture.
    init(_ pictures: [PlannedPicture], _ staging: [String]) {
        all = Array(zip(pictures, staging))
        parts = Self.parts(all)
        if pictures.allSatisfy({ $0.condition == nil }) { unwanted = [] }
    }

    /// Leaves out the pictures whose conditions are not met.
    mutating func choose(by facts: PictureFacts, _ place: PicturePlace) {
        let verdicts = all.map { $0.picture.condition?.verdict(facts, place) }
        unwanted = zip(all, verdicts).compactMap { item, verdict in
            guard let verdict, !verdict.isMet else { return nil }
            return UnwantedOutput(output: item.picture.name, reason: verdict.words.printable)
        }
        parts = Self.parts(zip(all, verdicts).filter { $1?.isMet ?? true }.map(\.0))
    }

    private static func parts(_ pictures: [(picture: PlannedPicture, staging: String)]) -> [Part] {
        var parts: [Part] = []
        for (picture, path) in pictures {
            let known = parts.firstIndex { $0.source == picture.source }
            if known == nil { parts.append(Part(source: picture.source)) }
            parts[known ?? parts.count - 1].pictures.append(picture)
            parts[known ?? parts.count - 1].staging.append(path)
        }
        return parts
    }
}
