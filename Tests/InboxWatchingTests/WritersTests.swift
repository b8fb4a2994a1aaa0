import Dispatch
import SystemCalls
import Testing

@testable import InboxWatching

@Suite("Files that are still being written")
struct WritersTests {
    private let begun = DispatchTime(uptimeNanoseconds: 1_000_000_000)
    private let end = DispatchTime(uptimeNanoseconds: 3_000_000_000)
    private let almost = DispatchTime(uptimeNanoseconds: 2_999_999_999)

    private func heard(_ event: Inotify.Event, by writers: inout Writers, at now: DispatchTime) {
        writers.heard(event, at: now, isEmpty: { _ in true })
    }

    @Test(
        "a file whose writer is not seen to close it waits until WriterTimeout= after its last change"
    )
    func patience() {
        var writers = Writers(patience: .seconds(2))
        heard(.written("/in/a.png"), by: &writers, at: DispatchTime(uptimeNanoseconds: 1))
        heard(.written("/in/a.png"), by: &writers, at: begun)
        #expect(writers.contains("/in/a.png", at: almost))
        #expect(!writers.contains("/in/a.png", at: end))
        #expect(!writers.contains("/in/b.png", at: begun))
    }

    @Test("with WriterTimeout=0 no file waits for a writer")
    func none() {
        var writers = Writers(patience: .zero)
        heard(.written("/in/a.png"), by: &writers, at: begun)
        #expect(!writers.contains("/in/a.png", at: begun))
    }

    @Test("the wait for a writer ends when the file is closed or moved, or its folder vanishes")
    func over() {
        let file = "/in/album/a.png"
        for event in [Inotify.Event.closed(file), .gone(file), .movedIn(file), .folderGone("/in/album"), .overflow] {
            var writers = Writers(patience: .seconds(2))
            heard(.written(file), by: &writers, at: begun)
            heard(event, by: &writers, at: begun)
            #expect(!writers.contains(file, at: begun), "\(event)")
        }
    }
}
