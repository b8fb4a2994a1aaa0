import DaemonRuntime
import Dispatch
import Synchronization

/// Asks all disks at once, and waits a short time only.
enum DiskAnswers {
    private static let patience = DispatchTimeInterval.seconds(2)

    /// The answers to a question about each path. Paths on a disk that does not answer are missing.
    static func ask<Answer: Sendable>(
        about paths: some Sequence<String>, _ question: @escaping @Sendable (String) -> Answer
    ) -> [String: Answer] {
        let answers = Mutex<[String: Answer]>([:])
        let group = DispatchGroup()
        for path in paths {
            group.enter()
            FileLanes.work(on: path).async {
                let answer = question(path)
                answers.withLock { $0[path] = answer }
                group.leave()
            }
        }
        _ = group.wait(timeout: .now() + patience)
        return answers.withLock { $0 }
    }
}
