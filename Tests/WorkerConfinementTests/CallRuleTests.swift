import Glibc
import Testing

@testable import FetchWorker
@testable import FleetWorker
@testable import RenderWorker
@testable import WorkerConfinement

/// Checks that the lists of system calls suit every processor. If a processor lacks a call of a list, the list must
/// also contain the call that glibc uses on this processor instead.
struct CallRuleTests {
    /// libseccomp's architecture constants, which equal the kernel's.
    enum Processor: UInt32, CaseIterable {
        case x86_64 = 0xc000_003e
        case aarch64 = 0xc000_00b7
        case riscv64 = 0xc000_00f3

        /// Returns the number of a system call. The number is negative if the processor lacks the call, and -1 if the
        /// name is unknown.
        func number(of call: String) -> Int32 {
            typealias Resolve = @convention(c) (UInt32, UnsafePointer<CChar>) -> Int32
            guard let resolve = dlsym(nil, "seccomp_syscall_resolve_name_arch") else { return -1 }
            return unsafeBitCast(resolve, to: Resolve.self)(rawValue, call)
        }
    }

    /// Older system calls, and the successors that newer processors have instead.
    private static let successors = [
        "access": "faccessat", "chmod": "fchmodat", "epoll_wait": "epoll_pwait", "fork": "clone", "mkdir": "mkdirat",
        "poll": "ppoll",
        "readlink": "readlinkat", "vfork": "clone",
    ]

    private static let walls = [Walls.fetch, .fleet, .render(readable: []), .render(readable: Walls.fonts)]
    private static var lists: [[String]] {
        walls.flatMap { [$0.allowed, $0.opening, $0.refused, $0.deadly] }.map { $0.map(\.name) }
    }

    @Test("Every name is a system call's, so that no rule is lost to a typo", arguments: Processor.allCases)
    func known(processor: Processor) {
        for name in Self.lists.joined() { #expect(processor.number(of: name) != -1, "\(name)") }
    }

    @Test("If a processor lacks a call, the same list has its successor", arguments: Processor.allCases)
    func successors(processor: Processor) throws {
        for list in Self.lists {
            for name in list where processor.number(of: name) < 0 {
                let successor = try #require(Self.successors[name], "\(name) is not on \(processor)")
                #expect(list.contains(successor) && processor.number(of: successor) >= 0, "\(name) on \(processor)")
            }
        }
    }
}
