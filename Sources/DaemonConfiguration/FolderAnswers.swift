import SystemCalls

/// The disks' answers about the folders that recipes name. Of a folder whose disk does not answer, nothing is known but
/// its path.
struct FolderAnswers: Sendable {
    private struct Answer {
        var resolved: String
        var obstacle: Obstacle?
    }

    private let answers: [String: Answer]

    /// `outboxes` are asked whether they can be made.
    init(of folders: Set<String>, outboxes: Set<String>) {
        answers = DiskAnswers.ask(about: folders.union(outboxes)) { folder in
            let obstacle = outboxes.contains(folder) ? Obstacle(to: folder) : nil
            return Answer(resolved: FileSystem.resolved(folder), obstacle: obstacle)
        }
    }

    func resolved(_ folder: String) -> String { answers[folder]?.resolved ?? folder }
    func obstacle(to outbox: String) -> Obstacle? { answers[outbox]?.obstacle }
}
