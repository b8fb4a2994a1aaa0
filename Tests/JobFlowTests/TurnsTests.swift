import DaemonConfiguration
import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import SystemCalls
import Testing

@testable import JobFlow

@Suite("The window's room, and the turns of hosts, recipes and batches in it")
struct TurnsTests {
    @Test("low priorities leave part of the window free; high ones may exceed it", arguments: [1, 8, 64, 1000])
    func room(size: Int) {
        let room = WindowRoom(size: size)
        #expect(room.limit(of: .normal) == size)
        #expect(room.limit(of: .high) == size + max(4, size / 8))
        #expect((1...size).contains(room.limit(of: .low)))
        #expect(size < 8 || room.limit(of: .low) <= size - 4)
        #expect(room.lowest(beside: 0) == .low)
        #expect(room.lowest(beside: size) == .high)
        #expect(room.lowest(beside: size + max(4, size / 8)) == nil)
        #expect((1...max(1, size / 16)).contains(room.portion))
        #expect(!room.isBlocked(by: 256) && room.isBlocked(by: max(256, size) + 1))
    }

    @Test("each host has its share of the window, and the turn continues after the host that was served last")
    func turns() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let hosts = ["a", "b", "c"]
            let jobs = (1...9).map { id in
                var job = fixture.job(id)
                (job.url, job.host, job.file) = ("http://x/\(id)", hosts[(id - 1) / 3], .none)
                return job
            }
            #expect(fixture.insert(jobs))
            var turns = Turns(.download)
            turns.share = 2
            func rows(limit: Int) throws -> [Int] {
                let rows = try turns.rows(of: fixture.ledger, atLeast: .low, except: [], limit: limit)
                return rows.map(\.id)
            }
            #expect(try rows(limit: 3) == [1, 2, 4])
            // The first host has used up its share, and the second host was the last to be served.
            #expect(try rows(limit: 9) == [7, 8, 4, 5])
            #expect(try rows(limit: 9) == [])
            let lane = Lane(.download, "a", .normal)
            for _ in 1...2 { turns.enter(lane) }
            #expect(turns.room(for: lane) == 0 && turns.full.contains(lane))
            turns.close(lane)
            #expect(!turns.due.contains(lane))
            turns.leave(lane)
            #expect(turns.due.contains(lane) && turns.room(for: lane) == 1)
            turns.open(lane)
            #expect(try rows(limit: 9) == [1])
        }
    }

    @Test("recipes take turns, and batches within a recipe, however many pictures and batches each has")
    func batches() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let places: [(recipe: String, batch: Int?)] = [
                ("a", 1), ("a", 1), ("a", 1), ("a", 2), ("a", 2), ("a", nil), ("b", nil), ("b", nil), ("b", nil),
                ("c", 3),
            ]
            let jobs = zip(1..., places).map { id, place in
                var job = fixture.job(id)
                (job.order.recipe, job.batch) = place
                return job
            }
            #expect(fixture.insert(jobs))
            var turns = Turns(.render)
            turns.share = 2
            func rows(limit: Int) throws -> [Int] {
                let rows = try turns.rows(of: fixture.ledger, atLeast: .low, except: [], limit: limit)
                return rows.map(\.id)
            }
            #expect(try rows(limit: 4) == [6, 7, 8, 10])
            #expect(try rows(limit: 9) == [1, 2, 10, 4, 5, 6])
            #expect(turns.full.contains(Lane(.render, "a", member: 1, .normal)))
        }
    }

    @Test("users take turns with pictures outside batches, and with batches")
    func users() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let jobs = (1...8).map { id in
                var job = fixture.job(id)
                (job.owner, job.batch) = id == 6 ? (0, 3) : (id < 6 ? 1000 : 1001, nil)
                return job
            }
            #expect(fixture.insert(jobs))
            var turns = Turns(.render)
            turns.share = 2
            let rows = try turns.rows(of: fixture.ledger, atLeast: .low, except: [], limit: 9).map(\.id)
            #expect(rows == [7, 8, 1, 2, 6])
            #expect(try fixture.ledger.job(7)?.owner == 1001)
        }
    }

    @Test("a few pictures enter the window while another recipe has thousands in the queue")
    func smallBesideLarge() async throws {
        try await OwnersFixture.with("Render=0\nWindow=64\n") { (fixture: OwnersFixture) async throws -> Void in
            var jobs = (1...2000).map { fixture.job($0) }
            for id in 1996...2000 { jobs[id - 1].order.recipe = "small" }
            #expect(fixture.insert(jobs))
            Coordination.sync {
                fixture.owners.jobs.adopt(fixture.owners.configuration.settings)
                fixture.owners.jobs.fill()
                #expect(Set(fixture.owners.jobs.ids) == Set(1...32).union(1996...2000))
            }
        }
    }
}
