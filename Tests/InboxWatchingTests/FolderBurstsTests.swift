import Dispatch
import SystemCalls
import Testing

@testable import InboxWatching

@Suite("Bursts of files in a folder")
struct FolderBurstsTests {
    private let quiet = Duration.seconds(2)

    private func after(_ seconds: Double) -> DispatchTime { DispatchTime(uptimeNanoseconds: 1_000_000_000) + seconds }

    /// Ends the bursts that are over after `seconds`. Returns the top folder of each, with the folders that arrived
    /// during it.
    private func end(
        _ bursts: inout FolderBursts, after seconds: Double, work: FolderBursts.Work? = nil
    ) -> [String: [String]] {
        let ended = bursts.end(at: after(seconds), quiet: quiet) { _ in work }
        return Dictionary(uniqueKeysWithValues: ended.map { ($0.folder.path, $0.came) })
    }

    @Test("a folder's files, at any depth, are one burst until nothing has happened for a while")
    func quietTime() {
        var bursts = FolderBursts(in: "/in")
        bursts.took("/in/single.png", at: after(0))
        #expect(bursts.folders == [] && bursts.next(quiet: quiet) == nil)
        bursts.took("/in/album/a.png", at: after(0))
        bursts.took("/in/album/deep/b.png", at: after(1))
        bursts.took("/in/other/c.png", at: after(2.5))
        #expect(bursts.next(quiet: quiet) == after(3))
        #expect(end(&bursts, after: 2.9) == [:])
        #expect(end(&bursts, after: 3) == ["/in/album": []])
        #expect(bursts.next(quiet: quiet) == after(4.5))
        bursts.heard("/in/other/.part", at: after(4))
        bursts.heard("/in/album/d.png", at: after(4))
        #expect(end(&bursts, after: 5.9) == [:])
        #expect(end(&bursts, after: 6) == ["/in/other": []])
        #expect(bursts.folders == [] && bursts.next(quiet: quiet) == nil)
    }

    @Test("a folder that appears during the first scan of the inbox counts as new when the kernel reports it")
    func duringTheFirstLook() {
        var bursts = FolderBursts(in: "/in")
        for folder in ["/in/customer", "/in/album", "/in/album/deep"] {
            bursts.found(folder, hasCome: false, at: after(0))
        }
        for folder in ["/in/album", "/in/album/deep"] { bursts.found(folder, hasCome: true, isNew: true, at: after(0)) }
        for folder in ["/in/customer", "/in/album"] { bursts.took("\(folder)/a.png", at: after(1)) }
        #expect(end(&bursts, after: 3) == ["/in/album": ["/in/album/deep", "/in/album"], "/in/customer": []])
    }

    @Test("files that arrive after a burst start another one")
    func again() {
        var bursts = FolderBursts(in: "/in")
        for seconds in [0.0, 10] {
            bursts.took("/in/customer/a.png", at: after(seconds))
            #expect(end(&bursts, after: seconds + 2) == ["/in/customer": []])
        }
    }

    @Test("settling files are waited for without a timer, and an open writer with a timer")
    func work() {
        var bursts = FolderBursts(in: "/in")
        bursts.took("/in/album/a.png", at: after(0))
        #expect(end(&bursts, after: 2, work: .settling) == [:])
        #expect(bursts.next(quiet: quiet) == nil)
        bursts.took("/in/album/b.png", at: after(5))
        #expect(end(&bursts, after: 7, work: .writing) == [:])
        #expect(bursts.next(quiet: quiet) == after(9))
        #expect(end(&bursts, after: 9) == ["/in/album": []])
    }

    @Test("the last settling file may vanish")
    func vanished() {
        var bursts = FolderBursts(in: "/in")
        bursts.took("/in/album/a.png", at: after(0))
        _ = end(&bursts, after: 2, work: .settling)
        #expect(end(&bursts, after: 3) == ["/in/album": []])
    }

    @Test("a waiting caller is told when a burst without files is over, and the folder's subfolders stay")
    func expected() {
        var bursts = FolderBursts(in: "/in")
        bursts.found("/in/album", hasCome: true, at: after(0))
        for folder in ["/in/album", "/in/old"] { bursts.expect(FileSystem.Key(folder), at: after(0)) }
        #expect(bursts.contains(FileSystem.Key("/in/old")))
        #expect(end(&bursts, after: 2, work: .settling) == [:])
        #expect(end(&bursts, after: 3) == ["/in/album": [], "/in/old": []])
        #expect(bursts.folders == [])
    }

    @Test("folders that arrived with files are removed with them, the deepest first")
    func came() {
        var bursts = FolderBursts(in: "/in")
        bursts.found("/in/customer", hasCome: false, at: after(0))
        for folder in ["/in/album", "/in/album/deep", "/in/customer", "/in/customer/march"] {
            bursts.found(folder, hasCome: true, at: after(1))
        }
        bursts.took("/in/album/deep/a.png", at: after(1))
        bursts.took("/in/customer/march/b.png", at: after(1))
        #expect(
            end(&bursts, after: 3) == [
                "/in/album": ["/in/album/deep", "/in/album"], "/in/customer": ["/in/customer/march"],
            ])
    }

    @Test("a folder that was empty for a while belongs to its user, and is not removed after files have arrived")
    func empty() {
        var bursts = FolderBursts(in: "/in")
        bursts.found("/in/customer", hasCome: true, at: after(0))
        #expect(bursts.next(quiet: quiet) == after(2))
        #expect(end(&bursts, after: 2) == [:])
        bursts.took("/in/customer/a.png", at: after(3))
        // The folder existed before; only its mode has changed.
        bursts.found("/in/customer", hasCome: true, at: after(3))
        #expect(end(&bursts, after: 5) == ["/in/customer": []])
        bursts.gone("/in/customer")
        bursts.found("/in/customer", hasCome: true, at: after(6))
        bursts.took("/in/customer/a.png", at: after(6))
        #expect(end(&bursts, after: 8) == ["/in/customer": ["/in/customer"]])
    }

    @Test("a folder that vanished is forgotten, even if only a full scan reveals that")
    func gone() {
        var bursts = FolderBursts(in: "/in")
        for folder in ["/in/album", "/in/album/a", "/in/album/b"] { bursts.found(folder, hasCome: true, at: after(0)) }
        bursts.took("/in/album/a/1.png", at: after(0))
        bursts.gone("/in/album/a")
        bursts.forget(but: [FileSystem.Key("/in/album")])
        #expect(end(&bursts, after: 2) == ["/in/album": ["/in/album"]])
    }

    @Test("paths are bytes: two spellings of an accent are two folders, even if the inbox has the same name")
    func bytes() {
        var bursts = FolderBursts(in: "/é")
        bursts.took("/é/e\u{301}/a.png", at: after(0))
        bursts.took("/é/é/a.png", at: after(0))
        #expect(Set(bursts.folders).count == 2)
        #expect(bursts.end(at: after(2), quiet: quiet) { _ in nil }.count == 2)
    }
}
