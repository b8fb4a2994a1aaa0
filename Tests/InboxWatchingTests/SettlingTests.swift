import Dispatch
import Glibc
import PipelineModel
import SystemCalls
import Testing

@testable import InboxWatching

@Suite("Settling")
struct SettlingTests {
    private static let begun = DispatchTime(uptimeNanoseconds: 1_000_000_000)

    private func settling(polled: Bool = false, room: Int = Settling.usualRoom) -> Settling {
        var settings = InboxSettings()
        (settings.settle, settings.settlePolled) = (.seconds(1), .seconds(5))
        settings.pollInterval = .seconds(3)
        var settling = Settling(in: "/in", settings, room: room)
        settling.isPolled = polled
        return settling
    }

    private func key(_ name: String) -> FileSystem.Key { FileSystem.Key("/in/\(name)") }

    private func file(size: Int = 1, modified: Int = 0, changed: Int = 0) -> FileStatus {
        var raw = stat()
        raw.st_mode = S_IFREG
        raw.st_size = size
        (raw.st_mtim.tv_sec, raw.st_ctim.tv_sec) = (modified, changed)
        return FileStatus(raw)
    }

    private func after(_ seconds: Double) -> DispatchTime { Self.begun + seconds }

    /// Adds the files to `settling`, each at its number of seconds after the start.
    private func settle(_ files: KeyValuePairs<String, Double>, in settling: inout Settling) {
        for (name, seconds) in files { _ = settling.settle(key(name), file(), at: after(seconds)) }
    }

    private func due(_ settling: Settling, after seconds: Double) -> [String] {
        settling.due(at: after(seconds)).map { FileSystem.relative($0.path, to: "/in") }
    }

    @Test("a file is due when it has been quiet for Settle=, and any change restarts the wait")
    func quiet() {
        var settling = settling()
        #expect(settling.settle(key("a"), file(), at: after(0)) == after(1))
        #expect(settling.settle(key("a"), file(), at: after(0.5)) == after(1.5))
        #expect(due(settling, after: 1.4) == [])
        #expect(settling.next(after: after(1.4)) == after(1.5))
        #expect(due(settling, after: 1.5) == ["a"])
        #expect(settling.next(after: after(1.5)) == nil)
    }

    @Test("in a polled inbox a file waits SettlePolled=, which only a new size or time restarts")
    func polled() {
        var settling = settling(polled: true)
        #expect(settling.settle(key("a"), file(), at: after(0)) == after(5))
        #expect(settling.settle(key("a"), file(), at: after(3)) == nil)
        #expect(settling.settle(key("a"), file(size: 2), at: after(3)) == after(8))
        #expect(settling.settle(key("a"), file(size: 2, modified: 1), at: after(4)) == after(9))
        #expect(due(settling, after: 9) == ["a"])
        #expect(settling.isUnchanged(key("a"), file(size: 2, modified: 1)))
        #expect(!settling.isUnchanged(key("a"), file(size: 3, modified: 1)))
        #expect(!settling.isUnchanged(key("b"), file()))
    }

    @Test("an existing file is quiet if its content and mode are older than Settle=, but a poll does not trust times")
    func found() {
        let settling = settling()
        #expect(settling.isQuiet(file(modified: 99, changed: 99), at: 100))
        #expect(!settling.isQuiet(file(modified: 0, changed: 100), at: 100))
        #expect(!settling.isQuiet(file(modified: 100, changed: 0), at: 100))
        #expect(!self.settling(polled: true).isQuiet(file(), at: 100))
    }

    @Test("the files of a folder wait for each other, and are taken in name order, at the folder's turn")
    func folder() {
        var settling = settling()
        settle(["album/b": 0, "single": 0.5, "album/deep/c": 1, "album/a": 2], in: &settling)
        #expect(due(settling, after: 1.5) == ["single"])
        #expect(due(settling, after: 2.9) == ["single"])
        #expect(due(settling, after: 3) == ["album/a", "album/b", "album/deep/c", "single"])
    }

    @Test("numbers in names sort by value, and a folder has work while one of its files settles or is written")
    func numbered() {
        var settling = settling()
        let album = FileSystem.Key("/in/album")
        settle(["album/img10": 0, "album/img9": 0, "img10": 0, "album/a/img1": 0, "img9": 0], in: &settling)
        #expect(due(settling, after: 1) == ["img9", "img10", "album/img9", "album/img10", "album/a/img1"])
        #expect(settling.folderQuietTime == .seconds(4))
        #expect(self.settling(polled: true).folderQuietTime == .seconds(20))
        #expect(settling.work(in: album, at: after(1)) == .settling)
        for name in ["album/img10", "album/img9"] { settling.drop(key(name)) }
        // The file may stay unreadable for ever, so it does not count as work of its folder.
        _ = settling.postpone(key("album/a/img1"), nil, at: after(1), cancelled: false)
        #expect(settling.work(in: album, at: after(1)) == nil)
        _ = settling.settle(key("album/a/img1"), file(), at: after(1))
        #expect(settling.work(in: album, at: after(1)) == .settling)
        settling.heard(.folderGone("/in/album"), at: after(1), isEmpty: { _ in false })
        #expect(settling.work(in: album, at: after(1)) == nil)
        settling.heard(.written("/in/album/.part"), at: after(1), isEmpty: { _ in false })
        #expect(settling.work(in: album, at: after(1)) == .writing)
        #expect(settling.work(in: FileSystem.Key("/in/other"), at: after(1)) == nil)
    }

    @Test("a file that was found quiet is due at once, unless other files of its folder settle")
    func ripe() {
        var settling = settling()
        _ = settling.ripen(key("album/b"), file(), at: after(0))
        #expect(due(settling, after: 0) == ["album/b"])
        settle(["album/a": 0], in: &settling)
        #expect(due(settling, after: 0.5) == [])
        #expect(due(settling, after: 1) == ["album/a", "album/b"])
    }

    @Test("files beyond the limit are deferred until there is room, and a folder has work until its last one")
    func aside() {
        var settling = settling(room: 2)
        let album = FileSystem.Key("/in/album")
        settle(["album/a": 0, "album/b": 0], in: &settling)
        for name in ["c", "d"] { #expect(settling.putAside("/in/album/\(name)") == true) }
        #expect(settling.putAside("/in/album/a") == false)
        #expect(
            settling.count == 4 && settling.namesAside(in: "/in/album") == [FileSystem.Key("c"), FileSystem.Key("d")])
        #expect(settling.nextAside() == nil)
        settling.drop(key("album/a"))
        #expect(settling.nextAside() == "/in/album/c")
        settle(["album/c": 0], in: &settling)
        #expect(settling.nextAside() == nil)
        // Unreadable files use no slot.
        _ = settling.postpone(key("album/b"), nil, at: after(1), cancelled: false)
        settling.drop(key("album/c"))
        #expect(settling.work(in: album, at: after(1)) == .settling)
        #expect(settling.nextAside() == "/in/album/d")
        #expect(settling.nextAside() == nil)
        #expect(settling.work(in: album, at: after(1)) == nil && settling.count == 1)
        #expect(settling.putAside("/in/album/e") == false)
    }

    @Test("a deferred file counts once, even if it is written to, found again or removed")
    func asideOnce() {
        var settling = settling(room: 1)
        settle(["a": 0], in: &settling)
        for _ in 1...2 { for name in ["b", "c", "d"] { #expect(settling.putAside("/in/\(name)") == true) } }
        settle(["c": 0], in: &settling)
        #expect(settling.count == 4 && settling.cancel(.all) == 4 && settling.cancel(.all) == 0)
        settling.heard(.gone("/in/b"), at: after(1), isEmpty: { _ in false })
        #expect(settling.count == 3 && settling.putAside("/in/b") == true && settling.count == 4)
        for name in ["a", "c"] { settling.forget(key(name)) }
        #expect(settling.nextAside() == "/in/b" && !settling.isCancelled(key("b")))
        #expect(settling.nextAside() == "/in/d" && settling.isCancelled(key("d")))
        #expect(settling.nextAside() == nil && settling.count == 0)
    }

    @Test("a cancel includes deferred files, but not files that arrive later, or arrive again")
    func asideCancelled() {
        var settling = settling(room: 1)
        settle(["x/a": 0], in: &settling)
        for name in ["x/b", "x/deep/c", "y/d"] { #expect(settling.putAside("/in/\(name)") == true) }
        #expect(settling.cancel(.folder("x")) == 3)
        #expect(settling.putAside("/in/x/later") == true)
        #expect(settling.marks == Set(["x/a", "x/b", "x/deep/c"].map(key)))
        settling.heard(.gone("/in/x/b"), at: after(1), isEmpty: { _ in false })
        settling.drop(key("x/a"))
        var cancelled: [String] = []
        while let path = settling.nextAside() {
            if settling.isCancelled(FileSystem.Key(path)) { cancelled.append(path) }
        }
        #expect(cancelled == ["/in/x/deep/c"])
        settle(["x/a": 0], in: &settling)
        for name in ["x/deep/e", "y/f"] { #expect(settling.putAside("/in/\(name)") == true) }
        settling.heard(.folderGone("/in/x/deep"), at: after(1), isEmpty: { _ in false })
        #expect(settling.count == 2)
        #expect(settling.cancel(.folder("y")) == 1)
        settling.dropAll()
        #expect(settling.count == 0 && settling.isCancelled(key("y/f")))
    }

    @Test("files wait for eight times the settling time at most")
    func patience() {
        var settling = settling()
        settle(["album/a": 0, "album/b": 8.5], in: &settling)
        #expect(due(settling, after: 8.9) == [])
        #expect(due(settling, after: 9) == ["album/a"])
    }

    @Test("a file that can't be read is checked again after PollInterval=")
    func postponed() {
        var settling = settling()
        #expect(settling.postpone(key("a"), nil, at: after(0), cancelled: false) == after(3))
        #expect(due(settling, after: 2.9) == [])
        #expect(due(settling, after: 3) == ["a"])
        #expect(!settling.isUnchanged(key("a"), file()))
    }

    @Test("files wait while nothing may be taken, and are all due afterwards")
    func held() {
        var settling = settling()
        settling.waitForRelease(key("a"), file(), cancelled: false)
        #expect(due(settling, after: 1000) == [])
        #expect(settling.next(after: after(0)) == nil)
        settling.release(at: after(1000))
        #expect(due(settling, after: 1000) == ["a"])
        #expect(settling.isUnchanged(key("a"), file()))
    }

    @Test("a file whose folder is gone stops settling")
    func gone() {
        var settling = settling()
        settle(["a": 0, "album/b": 0, "c": 0], in: &settling)
        for event in [Inotify.Event.gone("/in/a"), .folderGone("/in/album")] {
            settling.heard(event, at: after(0), isEmpty: { _ in false })
        }
        #expect(settling.count == 1 && settling.contains(key("c")))
    }

    @Test("a file that was created empty counts as being written until it is closed")
    func written() {
        var settling = settling()
        settling.heard(.made("/in/a"), at: after(0), isEmpty: { _ in true })
        settling.heard(.made("/in/link"), at: after(0), isEmpty: { _ in false })
        #expect(settling.isWritten("/in/a", at: after(1)))
        #expect(!settling.isWritten("/in/link", at: after(1)))
        settling.heard(.closed("/in/a"), at: after(1), isEmpty: { _ in false })
        #expect(!settling.isWritten("/in/a", at: after(1)))
    }

    @Test("cancel-all marks settling files, through changes and a new scan, until they are taken or gone")
    func cancelled() {
        var settling = settling()
        settle(["a": 0, "b": 0], in: &settling)
        #expect(settling.cancel(.all) == 2)
        settle(["a": 1, "c": 1], in: &settling)
        #expect(settling.isCancelled(key("a")) && settling.isCancelled(key("b")))
        #expect(!settling.isCancelled(key("c")))
        #expect(settling.marks == [key("a"), key("b")])
        settling.dropAll()
        #expect(settling.count == 0)
        settle(["a": 2, "c": 2], in: &settling)
        #expect(settling.isCancelled(key("a")) && !settling.isCancelled(key("c")))
        settling.forget(key("a"))
        settling.heard(.gone("/in/b"), at: after(2), isEmpty: { _ in false })
        #expect(settling.marks == [])
    }

    @Test("cancelling a folder marks the files that settle in it, at any depth, and no others")
    func cancelledFolder() {
        var settling = settling()
        settle(["album/a": 0, "album/deep/b": 0, "albums/c": 0, "d": 0], in: &settling)
        #expect(settling.cancel(.folder("album")) == 2)
        #expect(settling.marks == [key("album/a"), key("album/deep/b")])
        settle(["album/e": 1], in: &settling)
        #expect(settling.cancel(.folder("album")) == 1 && settling.cancel(.folder("deep")) == 0)
    }
}
