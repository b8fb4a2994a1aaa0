import DaemonRuntime
import Foundation
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

@Suite(
    "Places that are known by their mounts",
    .enabled(if: Mount.isPermitted, "only root may mount a file system"))
struct KnownPlacesTests {
    private static let recipe = "[Recipe]\nInbox=card\nOutbox=disk\n[Output]\nChain=save\n"

    /// Runs `body` with a recipe whose inbox is `card` and whose outbox is `disk`. Nothing is mounted on these folders.
    private func with(_ body: (OwnersFixture, KnownPlaces) async throws -> Void) async throws {
        try await OwnersFixture.with(recipe: Self.recipe) { (fixture: OwnersFixture) async throws -> Void in
            let (inbox, outbox) = (fixture.places.inbox, fixture.places.outbox)
            defer {
                for folder in ["\(inbox)/card", inbox, "\(outbox)/disk", outbox, "\(fixture.places.data)/store"] {
                    while umount2(folder, Int32(MNT_DETACH)) == 0 {}
                }
            }
            try await body(fixture, Coordination.sync { KnownPlaces(fixture.owners.configuration) })
        }
    }

    /// Does the same file work as a check by `KnownPlaces`, and takes about as long. A check that began earlier has
    /// usually finished when this method returns.
    private func look(at place: String) async {
        await withCheckedContinuation { continuation in
            FileLane(threads: 1).async {
                _ = try? MountTable.depth(of: FileSystem.resolved(place))
                Coordination.async { continuation.resume() }
            }
        }
    }

    /// Makes the places known while the disk is mounted, and then unmounts the disk, so that the places are gone. No
    /// event reports that a check by `KnownPlaces` has finished. If a check came too late, the method mounts the disk
    /// again and repeats all steps.
    private func lose(_ disk: Mount, _ places: KnownPlaces, gone: Set<String>) async throws {
        for _ in 1...2000 {
            Coordination.sync { places.learn() }
            for place in gone { await look(at: place) }
            try disk.unmount()
            if Coordination.sync({ gone.isSubset(of: places.gone) }) { break }
            _ = try Mount.made(on: disk.folder, size: "64k")
        }
        Coordination.sync { #expect(Set(places.gone) == gone) }
    }

    @Test("a place is gone when a mount that it was known with is gone, and returns with the mount")
    func lost() async throws {
        try await with { (fixture, places) async throws in
            let (card, disk) = ("\(fixture.places.inbox)/card", "\(fixture.places.outbox)/disk")
            try await lose(Mount.made(on: disk, size: "64k"), places, gone: [disk])
            Coordination.sync { #expect(places.isGone(disk) && !places.isGone(card) && !places.isGone("/elsewhere")) }

            let again = try Mount.made(on: disk, size: "64k")
            Coordination.sync { #expect(!places.isGone(disk) && places.gone == []) }
            // When another disk is mounted over the first one, the place counts as part of the new disk.
            let over = try Mount.made(on: disk, size: "64k")
            try await lose(over, places, gone: [disk])
            try again.unmount()
            Coordination.sync { #expect(places.isGone(disk)) }
        }
    }

    @Test("when a disk is unmounted, all places on it are gone, including the places of ad-hoc jobs")
    func above() async throws {
        try await with { (fixture, places) async throws in
            let (inbox, outbox) = (fixture.places.inbox, fixture.places.outbox)
            try await lose(Mount.made(on: inbox, size: "64k"), places, gone: [inbox, "\(inbox)/card"])
            try await lose(
                Mount.made(on: outbox, size: "64k"), places,
                gone: [inbox, "\(inbox)/card", "\(outbox)/chain", "\(outbox)/disk", "\(outbox)/noir"])
        }
    }

    @Test("a place behind a link is known by the link's target, even when the link is broken")
    func link() async throws {
        try await with { (fixture, places) async throws in
            let (disk, target) = ("\(fixture.places.outbox)/disk", "\(fixture.places.data)/store")
            try FileManager.default.createSymbolicLink(atPath: disk, withDestinationPath: target)
            try await lose(Mount.made(on: target, size: "64k"), places, gone: [disk])
            try FileManager.default.removeItem(atPath: target)
            Coordination.sync { #expect(places.isGone(disk)) }
        }
    }

    @Test("a missing place stays missing when the places are learned again, until all places are forgotten")
    func forgotten() async throws {
        try await with { (fixture, places) async throws in
            let (card, disk) = ("\(fixture.places.inbox)/card", "\(fixture.places.outbox)/disk")
            try await lose(Mount.made(on: disk, size: "64k"), places, gone: [disk])
            try await lose(Mount.made(on: card, size: "64k"), places, gone: [card, disk])
            Coordination.sync {
                places.forget()
                #expect(places.gone == [] && !places.isGone(disk))
            }
        }
    }
}
