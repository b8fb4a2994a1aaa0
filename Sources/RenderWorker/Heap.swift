import CLinux
import Foundation

/// Free memory that the process keeps: the next picture needs it again, and taking it anew costs more than any other
/// step.
enum Heap {
    /// A worker that has been idle for so long gives memory back.
    static let patience = DispatchTimeInterval.milliseconds(100)
    /// Free memory that may stay between two pictures of a burst.
    private static let mostBetween = 64 << 20
    /// Free memory that may stay while a picture is rendered that needs less.
    private static let mostBeside = 32 << 20

    /// Gives all free memory back, when there is no work.
    static func giveBack() { malloc_trim(0) }

    /// Gives all free memory back after a picture, if it is much.
    static func giveBackMost() { giveBack(beyond: mostBetween) }

    /// Gives all free memory back before a picture that needs so much, if that would leave much of it.
    static func makeReady(for bytes: Int) { giveBack(beyond: max(mostBeside, bytes)) }

    private static func giveBack(beyond most: Int) {
        if mallinfo2().fordblks > most { giveBack() }
    }
}
