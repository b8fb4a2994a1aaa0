import CLinux
import Foundation
import Glibc
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

/// Tests a confined worker with a hostile filter, which attempts what a malicious picture might make a decoder do.
struct ConfinementTests {
    @Test("Nothing is missing here, and every thread is confined, including those that a render has started")
    func walls() throws {
        let worker = try WorkerProcess()
        #expect(worker.hello.missing == [])
        _ = try worker.render(
            Pixels.colourful(900, 700).file(.jpeg), "resize scale=0.4 kernel=lanczos3 | save format=avif")
        let threads = try FileSystem.names(in: "/proc/\(worker.process)/task").compactMap(\.self)
        #expect(threads.count > 2)
        for thread in threads {
            let status = try text("/proc/\(worker.process)/task/\(thread)/status")
            #expect(status.contains("\nSeccomp:\t2\n") && status.contains("\nNoNewPrivs:\t1\n"))
        }
        #expect(try text("/proc/\(worker.process)/limits").contains(#/Max core file size +0 +0 /#))
        let own = try #require(Int(text("/proc/self/oom_score_adj").filter { !$0.isNewline }))
        let worse = try #require(Int(text("/proc/\(worker.process)/oom_score_adj").filter { !$0.isNewline }))
        #expect(worse > own || own == 1000)
    }

    @Test(
        "No file can be reached by its path, and the attempt fails its job with a message about confinement",
        arguments: ["open", "read", "thread", "openat2", "truncate", "unlink", "rename", "link", "chmod"])
    func paths(attempt: String) throws {
        let worker = try Hostile.worker()
        // This file stands for another job's original.
        let other = try TemporaryFile(Array("not yours".utf8))
        let before = try status(other)
        let failure = try failure(of: worker, "try=\(attempt) path=\(other.path)")
        let named = [
            "open": "to open \(other.path)", "read": "to open \(other.path)", "thread": "to open \(other.path)",
        ]
        #expect(failure.message == "the filter 'hostile' tried \(named[attempt] ?? "the system call \(attempt)")")
        #expect(try status(other) == before && other.bytes == Array("not yours".utf8))
        try worksOn(worker)
    }

    @Test(
        "System files can't be reached by their paths",
        arguments: ["/etc/passwd", "/proc/self/mem", "/dev/mem", "/sys/kernel/profiling", "."])
    func systemPaths(path: String) throws {
        for attempt in ["read", "open"] {
            #expect(
                try failure(of: Hostile.worker(), "try=\(attempt) path=\(path)").message.contains("to open \(path)"))
        }
    }

    @Test("Files can't be reached during a render either, long after the filter has returned")
    func late() throws {
        let message = try failure(of: Hostile.worker(), "try=late path=/etc/passwd").message
        #expect(message == "the picture, or a filter of its chain, tried to open /etc/passwd")
    }

    @Test("A thread that a plugin starts while loading, which Landlock does not restrict, is reported")
    func threadOfAPlugin() throws {
        let folder = try TemporaryFolder()
        try Plugin.compile(
            """
            #include <pthread.h>
            #include <unistd.h>
            static void *wait(void *nothing) { for (;;) pause(); }
            __attribute__((constructor)) static void begin(void) {
                pthread_t thread;
                pthread_create(&thread, NULL, wait, NULL);
            }
            """, to: folder.path + "/threads.so")
        let missing = try WorkerProcess(plugins: [folder.path]).hello.missing
        #expect(
            missing.count == 1 && missing.first?.hasPrefix("Landlock (2 threads were already") == true, "\(missing)")
    }

    @Test("The worker does not inherit its parent's open files")
    func inherited() throws {
        let leaked = Descriptor(owning: dup(STDERR_FILENO))
        let worker = try WorkerProcess()
        let folder = "/proc/\(worker.process)/fd"
        let open = try FileSystem.names(in: folder).compactMap(\.self).sorted()
        #expect(open == ["0", "1", "2", "3", "4"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/4").hasPrefix("/memfd:"))
        withExtendedLifetime(leaked) {}
    }

    @Test("No file can be created")
    func creating() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/new"
        #expect(try failure(of: Hostile.worker(), "try=create path=\(path)").message.contains("to open \(path)"))
        #expect(try !FileSystem.exists(path))
    }

    @Test(
        "A worker can't change the picture that it reads",
        arguments: ["reopen", "fchmod", "fchown", "futimens", "fsetxattr", "ftruncate"])
    func input(attempt: String) throws {
        let worker = try Hostile.worker()
        let source = try Pixels.colourful(40, 30).file(.png)
        let (before, bytes) = (try status(source), try source.bytes)
        let failure = try worker.failure(source, "hostile try=\(attempt)")
        #expect(failure.stage == WorkerFailure.confinement, "\(failure)")
        #expect(try status(source) == before && source.bytes == bytes)
        try worksOn(worker)
    }

    @Test(
        "Other ways out are closed as well",
        arguments: ["memfd_create", "dumpable", "limit", "send", "ioctl", "seccomp"])
    func refused(attempt: String) throws {
        let worker = try Hostile.worker()
        #expect(try failure(of: worker, "try=\(attempt)").stage == WorkerFailure.confinement)
        try worksOn(worker)
    }

    @Test("Memory becomes executable only where libvips generates code at run time")
    func code() throws {
        let worker = try Hostile.worker()
        guard dlsym(nil, "orc_init") == nil else {
            _ = try worker.render(Pixels.colourful(40, 30).file(.png), "hostile try=code")
            return
        }
        #expect(try failure(of: worker, "try=code").message == "the filter 'hostile' tried the system call mmap")
        try worksOn(worker)
    }

    /// Attempts that call the kernel by another architecture's call numbers. Only x86-64 processors run such code.
    private static var calledByOtherNumbers: [String] {
        #if arch(x86_64)
            ["numbers"]
        #else
            []
        #endif
    }

    @Test(
        "The kernel kills a worker that tries to reach the network, other processes or a way around the filter",
        arguments: [
            "socket", "abstract", "socketpair", "connect", "execve", "fork", "vfork", "bomb", "ptrace", "readv",
            "writev", "kill", "tgkill", "group", "io_uring", "bpf", "mount", "unshare",
        ] + calledByOtherNumbers)
    func deadly(attempt: String) throws {
        // The target is this process, which is the worker's supervisor.
        try endsByItself(attempt, getpid())
    }

    @Test("A worker can't reach its siblings", arguments: ["ptrace", "readv", "writev", "kill", "tgkill"])
    func siblings(attempt: String) throws {
        let sibling = try WorkerProcess()
        try endsByItself(attempt, sibling.process)
        try worksOn(sibling)
    }

    private func endsByItself(_ attempt: String, _ process: pid_t) throws {
        let worker = try Hostile.worker()
        let source = try Pixels.colourful(40, 30).file(.png)
        _ = try worker.open(source, "hostile try=\(attempt) path=/bin/true process=\(process)")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        // If a core were dumped, the status would differ from the signal's number.
        #expect(worker.ended() == SIGSYS)
    }

    @Test("A worker can't reach abstract sockets")
    func abstractSocket() throws {
        let listener = Descriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\0hostile".utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener.number, $0, length) }
        }
        try #require(bound == 0)
        try listener.setNonblocking()
        for attempt in ["abstract", "send"] {
            let worker = try Hostile.worker()
            #expect(throws: (any Error).self) {
                try worker.render(Pixels.colourful(9, 9).file(.png), "hostile try=\(attempt)")
            }
        }
        var byte: UInt8 = 0
        #expect(recv(listener.number, &byte, 1, 0) < 0 && errno == EAGAIN)
    }

    @Test("A file stops growing at its limit, and the worker survives")
    func fileSize() throws {
        let worker = try Hostile.worker()
        try #require(clinux_limit(worker.process, Int32(RLIMIT_FSIZE.rawValue), 4096) == 0)
        let target = try TemporaryFile()
        _ = try worker.open(Pixels.colourful(40, 30).file(.png), "hostile try=fill")
        let failure = try #require(throws: WorkerFailure.self) { try worker.render(into: target) }
        #expect(failure.stage == "hostile" && failure.message == String(cString: strerror(EFBIG)))
        #expect(try status(target).size == 4096)
        try worksOn(worker)
    }

    @Test(
        "A result larger than MaxResult fails with that reason; a result of exactly that size succeeds",
        arguments: ["jpeg", "png", "webp", "tiff", "avif", "gif", "jxl"])
    func maxResult(format: String) throws {
        let source = try Pixels.colourful(400, 300).file(.png)
        let chain = "save format=\(format)"
        let size = try WorkerProcess("--jxl").render(source, chain).bytes.count
        let worker = try WorkerProcess("--jxl")
        try #require(clinux_limit(worker.process, Int32(RLIMIT_FSIZE.rawValue), UInt64(size)) == 0)
        #expect(try worker.render(source, chain).bytes.count == size)
        try #require(clinux_limit(worker.process, Int32(RLIMIT_FSIZE.rawValue), UInt64(size - 1)) == 0)
        let failure = try worker.failure(source, chain)
        #expect(
            failure.stage == "save" && failure.message == "the result grows larger than MaxResult allows", "\(failure)")
    }

    private func failure(of worker: WorkerProcess, _ arguments: String) throws -> WorkerFailure {
        let failure = try worker.failure(Pixels.colourful(40, 30).file(.png), "hostile \(arguments)")
        #expect(failure.stage == WorkerFailure.confinement, "\(failure)")
        return failure
    }

    private func worksOn(_ worker: WorkerProcess) throws {
        _ = try worker.render(Pixels.colourful(40, 30).file(.png), "resize scale=0.5")
    }

    private func status(_ file: TemporaryFile) throws -> FileStatus { try #require(try FileSystem.status(file.path)) }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
