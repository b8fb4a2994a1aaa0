import CLinux
import Foundation

/// Free memory that the process keeps: the next picture needs it again, and taking it anew costs more than any other
/// step.
enum Heap {
    /// A worker that has been idle for so long gives memory back.
    static let patience = DispatchTimeInterval.milliseconds(100)
    /// Free memory that may stay between two pictures of a burst.
    private static let mostFree = 32 << 20

    /// Gives all free memory back, when there is no work.
    static func giveBack() { malloc_trim(0) }

    /// Gives all free memory back, if it is much.
    static func giveBackMost() {
        if mallinfo2().fordblks > mostFree { giveBack() }
    }
}
