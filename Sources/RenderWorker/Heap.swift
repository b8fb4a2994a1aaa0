import CLinux
import Foundation

/// Keeps freed memory in the process for the next picture. Requesting memory from the kernel again takes longer than
/// any other step of a render.
enum Heap {
    /// A worker that is idle for this long returns its free memory to the kernel.
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
