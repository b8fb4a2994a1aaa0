import SystemCalls

/// The disks' answers about the folders that recipes name. If a disk does not answer, only a folder's path is known.
struct FolderAnswers: Sendable {
    private struct Answer {
        var resolved: String
        var obstacle: Obstacle?
    }

    private let answers: [String: Answer]

    /// Also checks whether `outboxes` can be created.
    init(of folders: Set<String>, outboxes: Set<String>) {
        answers = DiskAnswers.ask(about: folders.union(outboxes)) { folder in
            let obstacle = outboxes.contains(folder) ? Obstacle(to: folder) : nil
            return Answer(resolved: FileSystem.resolved(folder), obstacle: obstacle)
        }
    }

    func resolved(_ folder: String) -> String { answers[folder]?.resolved ?? folder }
    func obstacle(to outbox: String) -> Obstacle? { answers[outbox]?.obstacle }
}
