import Glibc
import InboxWatching
package import JobLedger
package import PipelineModel
import SystemCalls
import WorkerProtocol

/// The facts that the names of a job's results take from elsewhere. It reads the ledger, and only for names that ask for it.
package struct JobNames: Sendable {
    private let order: WorkOrder
    private var path: String
    private let batch: Int?
    private let plan: Plan
    private let ledger: Ledger

    /// `path` is the picture's in its inbox, or its name.
    package init(_ order: WorkOrder, path: String, batch: Int?, _ plan: Plan, _ ledger: Ledger) {
        (self.order, self.path, self.batch, self.plan, self.ledger) = (order, path, batch, plan, ledger)
    }

    /// Throws when two results come to one name, as far as that is known of a picture that is not rendered.
    package func check(_ image: ImageHandle) throws {
        guard order.outputs.contains(where: { $0.naming != nil }) else { return }
        var named = self
        named.path = image.name ?? path
        _ = try named.expected(facts(image))
    }

    /// The paths of all results as far as they are known, in the plan's order.
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

    private func album(_ path: String) throws -> String {
        let folder = FileSystem.subfolder(of: path)
        guard folder.isEmpty, let batch else { return folder }
        let name = try ledger.batches([batch])[batch]?.name ?? ""
        return FileNames.isList(name) ? NameFacts.split(name).stem : name
    }
}

extension WorkOrder {
    fileprivate func asks(for field: NameField) -> Bool { outputs.contains { $0.naming?.asks(for: field) ?? false } }

    /// A name has the picture's date in it.
    package var wantsDate: Bool { asks(for: .date) }
}

extension PictureDate {
    /// A file's modification time, in nanoseconds since 1970, by the daemon's clock.
    package init?(modified nanoseconds: Int) {
        var (seconds, parts) = (time_t(nanoseconds / 1_000_000_000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        self.init(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec), source: .file)
    }
}
