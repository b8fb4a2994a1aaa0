import CLinux
import Foundation

/// Free memory that the process keeps for the next picture, because getting it from the kernel again costs more than
/// any other step.
enum Heap {
    /// A worker that is idle for this long returns its free memory.
    static let patience = DispatchTimeInterval.milliseconds(100)
    /// Maximum free memory kept between two pictures of a burst.
    private static let mostFree = 32 << 20

    /// Returns all free memory to the kernel.
    static func giveBack() { malloc_trim(0) }

    /// Returns all free memory to the kernel if there is more than `mostFree`.
    static func giveBackMost() {
        if mallinfo2().fordblks > mostFree { giveBack() }
    }
}
