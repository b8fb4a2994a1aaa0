import CLinux
import Dispatch
import Glibc
import Synchronization

public enum ChildProgram {
    /// Starts the program `words[0]` in a process group of its own. The program gets default signal handling, and no
    /// descriptors except `streams`, which become its descriptors 0, 1, ….
    public static func start(
        _ words: [String], environment: [String], streams: [Int32]
    ) throws(SystemError) -> Int32 {
        try StartingThread.shared.run { start(words, environment, streams, clinux_spawn) }.get()
    }

    /// Starts the program as the child of a keeper process, and returns the keeper's process ID. The keeper exits with
    /// the program's status. On SIGTERM, the keeper kills the program and all its descendants. If the program's disk
    /// does not answer, this call blocks, but later starts of other programs do not.
    public static func startKept(
        _ words: [String], environment: [String], streams: [Int32]
    ) throws(SystemError) -> Int32 {
        try start(words, environment, streams, clinux_spawn_kept).get()
    }

    /// Makes the kernel kill this process when its parent ends, even if all threads of this process are blocked. Each
    /// worker calls this method when it starts.
    public static func endWithParent() { _ = clinux_end_with_parent() }

    private typealias Spawn = (
        UnsafeMutablePointer<pid_t>?, UnsafePointer<UnsafeMutablePointer<CChar>?>?,
        UnsafePointer<UnsafeMutablePointer<CChar>?>?, UnsafePointer<Int32>?, Int32
    ) -> Int32

    private static func start(
        _ words: [String], _ environment: [String], _ streams: [Int32], _ spawn: Spawn
    ) -> Result<Int32, SystemError> {
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        guard spawn(&process, &arguments, &variables, streams, Int32(streams.count)) == 0 else {
            return .failure(SystemError("start", words[0]))
        }
        return .success(process)
    }
}

/// The thread on which `ChildProgram.start` starts programs. It must never end: when the thread that started a program
/// ends, the kernel behaves as if the program's parent had ended, and kills the program.
private final class StartingThread: Sendable {
    typealias Start = @Sendable () -> Result<Int32, SystemError>

    static let shared = StartingThread()

    private let starts = Mutex<[@Sendable () -> Void]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let problem = Mutex<SystemError?>(nil)

    private init() {
        var thread = pthread_t()
        // The thread lives as long as the process, so it is never joined.
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<StartingThread>.fromOpaque(context).takeUnretainedValue().serve() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        if code != 0 { problem.withLock { $0 = SystemError("pthread_create", "to start programs", code: code) } }
    }

    private func serve() -> Never {
        while true {
            arrived.wait()
            starts.withLock { $0.removeFirst() }()
        }
    }

    func run(_ start: @escaping Start) -> Result<Int32, SystemError> {
        if let problem = problem.withLock({ $0 }) { return .failure(problem) }
        let answer = Answer()
        starts.withLock { $0.append { answer.give(start()) } }
        arrived.signal()
        return answer.wait()
    }

    private final class Answer: Sendable {
        private let result = Mutex<Result<Int32, SystemError>>(.success(0))
        private let given = DispatchSemaphore(value: 0)

        func give(_ result: Result<Int32, SystemError>) {
            self.result.withLock { $0 = result }
            given.signal()
        }

        func wait() -> Result<Int32, SystemError> {
            given.wait()
            return result.withLock { $0 }
        }
    }
}
