import CLinux
import Foundation

/// Memory that is free, but still the process's: the next picture needs it again, and taking it anew costs more than anything else that
/// is done with it.
enum Heap {
    /// Nothing to do for so long is an end for now.
    static let patience = DispatchTimeInterval.milliseconds(100)
    /// What a burst of pictures may leave lying between two of them.
    private static let mostFree = 32 << 20

    /// All of it, at an end.
    static func giveBack() { malloc_trim(0) }

    /// All of it, if it is much.
    static func giveBackMost() {
        if mallinfo2().fordblks > mostFree { giveBack() }
    }
}
