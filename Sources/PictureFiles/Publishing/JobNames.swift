import Glibc
import InboxWatching
package import JobLedger
package import JobModel
package import PipelineModel
import SystemCalls
import WorkerProtocol

/// Collects the facts that result names may need and that the picture's path does not contain: the album and the date.
/// Reads the ledger only if a name needs the album or the date.
package struct JobNames: Sendable {
    private let order: WorkOrder
    private var path: String
    private let batch: Int?
    private let plan: Plan
    private let ledger: Ledger

    /// `path` is the picture's path relative to its inbox, or its name.
    package init(_ order: WorkOrder, path: String, batch: Int?, _ plan: Plan, _ ledger: Ledger) {
        (self.order, self.path, self.batch, self.plan, self.ledger) = (order, path, batch, plan, ledger)
    }

    /// Throws if two results would have the same name. Names that are unknown before rendering are not checked.
    package func check(_ image: ImageHandle) throws {
        guard order.outputs.contains(where: { $0.naming != nil }) else { return }
        var named = self
        named.path = image.name ?? path
        _ = try named.expected(facts(image))
    }

    /// The paths of all results, in the plan's order, as far as paths are known before rendering.
    package func expected(_ facts: NameFacts) throws -> [(output: String?, path: String)] {
        let staged = plan.results.map { ImageHandle.Staged(picture: $0, path: "") }
        let name = ResultName(order: order, path: path, facts: facts)
        try name.check(staged)
        return staged.map { ($0.picture.name, name.path($0, of: staged, number: 0)) }
    }

    package func facts(_ image: ImageHandle) throws -> NameFacts {
        var facts = NameFacts()
        if order.asks(for: .album) { facts.album = try album(image.name ?? path) }
        if wantsDate { facts.date = image.header?.taken ?? image.modified.flatMap(PictureDate.init(modified:)) }
        return facts
    }

    package var wantsDate: Bool { order.wantsDate }

    /// Returns the picture's album and name, which conditions test.
    package func place(_ image: ImageHandle) throws -> PicturePlace {
        let path = image.name ?? path
        return PicturePlace(folder: try album(path), name: FileSystem.name(of: path))
    }

    private func album(_ path: String) throws -> String {
        let folder = FileSystem.subfolder(of: path)
        guard folder.isEmpty, let batch else { return folder }
        let name = try ledger.batches([batch])[batch]?.name ?? ""
        return FileNames.isList(name) ? NameFacts.split(name).stem : name
    }
}

extension WorkOrder {
    fileprivate func asks(for field: NameField) -> Bool { outputs.contains { $0.naming?.asks(for: field) ?? false } }

    /// Whether the name of any output contains the picture's date.
    package var wantsDate: Bool { asks(for: .date) }
}

extension PictureDate {
    /// Converts a file's modification time, in nanoseconds since 1970, to a date in the daemon's time zone.
    package init?(modified nanoseconds: Int) {
        var (seconds, parts) = (time_t(nanoseconds / 1_000_000_000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        self.init(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec), source: .file)
    }
}
