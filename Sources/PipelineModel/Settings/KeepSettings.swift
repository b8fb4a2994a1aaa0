/// Retention rules for the files in the archive, in `failed/` and `cancelled/`, and in the outboxes. The default keeps
/// everything.
public struct KeepSettings: Sendable, Hashable {
    public var archive = KeepRule()
    public var failed = KeepRule()
    public var cancelled = KeepRule()
    public var results = KeepRule()
    /// The maximum time by which the clock may be ahead of the latest trusted time. Beyond that, the daemon does not
    /// trust the clock, and does not remove files by age.
    public var clockLeap = Duration.seconds(31 * 86_400)
    /// Limit for the total size of all previews, in bytes.
    public var previews: Int64 = 256 << 20

    public init() {}

    static let table: [Setting<KeepSettings>] = [
        Setting(
            "Keep", "Archive", \.archive, .rule,
            "how many originals of done jobs are kept; beyond this limit, the oldest are removed"),
        Setting(
            "Keep", "Failed", \.failed, .rule,
            "the same for the originals of failed jobs, and the texts beside them"),
        Setting("Keep", "Cancelled", \.cancelled, .rule, "the same for the originals of cancelled jobs"),
        Setting(
            "Keep", "Results", \.results, .rule,
            "the same for published results, in all outboxes; a result that somebody has changed stays"),
        Setting(
            "Keep", "ClockLeap", \.clockLeap, .duration(.seconds(3600) ... .seconds(36_500 * 86_400)),
            "how far the clock may be ahead of the latest known time, for example after a pause, before no file is removed "
                + "for its age; a clock that systemd-timesyncd has set is always trusted"),
        Setting(
            "Keep", "Previews", \.previews, .magnitude(.bytes, 0...1 << 50),
            "total size of the previews that are kept; the least recently used are removed first; 0: none are kept"),
    ]

    public subscript(place: KeptPlace) -> KeepRule {
        switch place {
        case .archive: archive
        case .failed: failed
        case .cancelled: cancelled
        case .results: results
        }
    }

    public var keepsEverything: Bool { KeptPlace.allCases.allSatisfy { self[$0].keepsEverything } }
}
