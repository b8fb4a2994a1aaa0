import Foundation
import Glibc
import Synchronization
import SystemCalls
import TestTools

/// Makes single allocations of a worker fail, through the library `scarce_memory.c`, which is loaded into the worker.
final class ScarceMemory: Sendable {
    private static let library = Result { try CSource.built("scarce_memory.c", "-shared -fPIC") }

    private let file: TemporaryFile
    /// The fields of `struct wish`, in memory that is shared with the worker.
    private let wish: Mutex<Numbers>

    private struct Numbers: ~Copyable {
        let place: UnsafeMutablePointer<Int>

        deinit { munmap(place, 3 * MemoryLayout<Int>.size) }
    }

    init() throws {
        file = try TemporaryFile([UInt8](repeating: 0, count: 3 * MemoryLayout<Int>.size))
        let opened = try file.reopened(O_RDWR)
        guard let shared = mmap(nil, 3 * MemoryLayout<Int>.size, PROT_READ | PROT_WRITE, MAP_SHARED, opened.number, 0),
            shared != MAP_FAILED
        else { throw Unexpected("no memory is shared with a worker") }
        wish = Mutex(Numbers(place: shared.bindMemory(to: Int.self, capacity: 3)))
    }

    /// The command under which the worker is started.
    var wrapper: [String] {
        get throws { ["/usr/bin/env", "LD_PRELOAD=\(try Self.library.get())", "SCARCE_MEMORY=\(file.path)"] }
    }

    /// While `body` runs, counts the allocations of at least `least` bytes, and makes allocation number `number` fail.
    /// If `number` is 0, no allocation fails. Returns the count.
    func refuse(_ number: Int, ofAtLeast least: Int, while body: () throws -> Void) throws -> Int {
        set([least, number, 0])
        defer { set([0, 0, 0]) }
        try body()
        return wish.withLock { $0.place[2] }
    }

    private func set(_ numbers: [Int]) {
        wish.withLock { wish in for (index, number) in numbers.enumerated() { wish.place[index] = number } }
    }
}
