import SystemCalls

/// The disks' answers about the folders of recipes. If a disk does not answer, its folders count as unobstructed, and
/// their links are not resolved.
struct FolderAnswers: Sendable {
    private struct Answer {
        var resolved: String
        var obstacle: Obstacle?
    }

    private let answers: [String: Answer]

    /// Examines all folders, and checks whether the `outboxes` can be created.
    init(of folders: Set<String>, outboxes: Set<String>) {
        answers = DiskAnswers.ask(about: folders.union(outboxes)) { folder in
            let obstacle = outboxes.contains(folder) ? Obstacle(to: folder) : nil
            return Answer(resolved: FileSystem.resolved(folder), obstacle: obstacle)
        }
    }

    func resolved(_ folder: String) -> String { answers[folder]?.resolved ?? folder }
    func obstacle(to outbox: String) -> Obstacle? { answers[outbox]?.obstacle }
}
