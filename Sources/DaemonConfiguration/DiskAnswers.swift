import DaemonRuntime
import Dispatch
import ServiceProgram
import Synchronization

/// Examines paths on several disks in parallel, and waits at most two seconds, because a disk may hang.
enum DiskAnswers {
    private static let patience = DispatchTimeInterval.seconds(2)

    /// Calls `question` for each path, and returns the answers by path. The result omits paths on a disk that does not
    /// answer in time.
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
