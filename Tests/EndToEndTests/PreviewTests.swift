import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Previews")
struct PreviewTests {
    private static let slow =
        "[Recipe]\nInbox=slow\n[Output]\nChain=blur radius=20 | save format=avif effort=9\n"
    private static let files = [
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Queues]\nRender=1\nPreviewPause=1h\n",
        "etc/recipes.d/plain.recipe": "[Recipe]\nInbox=plain\n[Output]\nChain=save\n",
        "etc/recipes.d/slow.recipe": slow,
    ]

    private struct Preview: Equatable {
        var name: String
        var data: Data
        /// The names of the chunks in a WebP.
        var chunks: [String] {
            var (names, place) = ([String](), 12)
            while place + 8 <= data.count {
                names.append(String(decoding: data[place..<place + 4], as: UTF8.self))
                let length = data[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
                place += 8 + length + length % 2
            }
            return names
        }
        /// The dimensions of a WebP's canvas, or of its only frame if it has no canvas.
        var sides: [Int] {
            func number(_ place: Int, _ count: Int) -> Int {
                data[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
            }
            guard data.starts(with: Data("RIFF".utf8)), let first = chunks.first else { return [] }
            if first == "VP8X" { return [number(24, 3) + 1, number(27, 3) + 1] }
            return [number(26, 2) & 0x3fff, number(28, 2) & 0x3fff]
        }
    }

    private func preview(
        _ daemon: DaemonFixture, _ job: Int, result: Int? = nil, width: Int? = 320
    ) throws -> Preview {
        let (reply, files) = try daemon.client().callForFiles(Call.Open(id: job, result: result, width: width))
        let file = try #require(files.first)
        let bytes = try FileSystem.read(file, most: .max, called: reply.name)
        #expect(bytes.count == reply.bytes)
        #expect(Glibc.write(file.number, "x", 1) < 0)
        return Preview(name: reply.name, data: Data(bytes))
    }

    private func made(_ daemon: DaemonFixture) throws -> Int {
        let metrics = try daemon.call(Call.Metrics()).metrics
        return Int(try #require(metrics.first { $0.name == "pipelined_previews_made" }?.samples.first).value)
    }

    private func refusal(_ daemon: DaemonFixture, _ call: Call.Open) -> ControlError? {
        do {
            _ = try daemon.call(call)
            return nil
        } catch {
            return error as? ControlError
        }
    }

    /// Sends a request for a preview, without waiting for the reply.
    private func send(_ daemon: DaemonFixture, _ job: Int) throws -> RawClient {
        let client = try RawClient(daemon)
        try client.send(RawClient.call("Open", #"{"id":\#(job),"width":320}"#))
        return client
    }

    /// Requests a preview while no worker is free, and waits until the daemon has opened the picture for it.
    private func ask(_ daemon: DaemonFixture, _ job: Int, _ name: String) async throws -> RawClient {
        let client = try send(daemon, job)
        while !daemon.holds(daemon.process, name) { await Task.yield() }
        return client
    }

    private func vips(_ words: String...) async throws {
        let outcome = try await Programs.run(path: "/usr/bin/vips", words)
        try #require(outcome.status == 0, "\(words): \(outcome.errors)")
    }

    private func point(_ preview: Preview, _ daemon: DaemonFixture, _ x: Int, _ y: Int) async throws -> [Double] {
        try daemon.write(preview.data, to: "look.webp")
        let outcome = try await Programs.run(
            path: "/usr/bin/vips", ["getpoint", daemon.path("look.webp"), "\(x)", "\(y)"])
        return outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    private func pause(_ daemon: DaemonFixture) throws { _ = try daemon.call(Call.Pause(queue: "render")) }

    /// Adds a job that waits in the paused queue; returns its ID.
    private func wait(_ daemon: DaemonFixture, _ data: Data, _ name: String) async throws -> Int {
        try daemon.drop(data, as: name, inbox: "inbox/plain")
        return try await daemon.job(name, becomes: "queued")
    }

    // MARK: - Pictures

    @Test(
        "every readable format has previews, no larger than requested and never enlarged, even behind a pause"
    )
    func formats() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            let (wide, high) = (700, 350)
            let picture = Picture.png(width: wide, height: high)
            try daemon.write(picture, to: "mine/a.png")
            let suffixes = ["jpg", "webp", "tif", "gif", "avif", "heic[compression=hevc]"]
            for suffix in suffixes {
                try await vips("copy", daemon.path("mine/a.png"), daemon.path("mine/a.\(suffix)"))
            }
            let rows = Data(repeating: 200, count: (wide * 3 + 3) / 4 * 4 * high)
            var bitmap = Data("BM".utf8)
            for number in [54 + rows.count, 0, 54, 40, wide, high, 24 << 16 | 1, 0, rows.count, 2835, 2835, 0, 0] {
                bitmap += withUnsafeBytes(of: UInt32(number).littleEndian) { Data($0) }
            }
            try daemon.write(bitmap + rows, to: "mine/a.bmp")
            let jpeg = Array(try daemon.data("mine/a.jpg"))
            let camera = DNG(
                wide, high, colours: Array(repeating: 90, count: wide * high * 3), preview: jpeg)
            try daemon.write(Data(camera.bytes), to: "mine/a.dng")
            for name in daemon.files(in: "mine") {
                let job = try await wait(daemon, try daemon.data("mine/\(name)"), name)
                let small = try preview(daemon, job)
                #expect(small.sides == [320, 160] && small.name == "a.webp", "\(name): \(small.sides)")
                #expect(try preview(daemon, job, width: 1280).sides == [wide, high], "\(name)")
            }
            #expect(daemon.files(in: "mine").count == 9)
            #expect(try made(daemon) == 18 && daemon.files(in: "state/previews").count == 18)
            #expect(daemon.files(in: "state/previews").allSatisfy { $0.hasSuffix(".webp") })
            let large = try await wait(daemon, Picture.tiff(width: 1000, height: 4000), "high.tif")
            #expect(try preview(daemon, large, width: 321).sides == [320, 1280])
        }
    }

    @Test("a preview is upright, in sRGB, keeps transparency, has one frame and no metadata")
    func kinds() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            func path(_ name: String) -> String { daemon.path("mine/\(name)") }
            try daemon.write(Picture.png(width: 64, height: 32), to: "mine/small.png")
            try await vips("black", path("clear.png"), "64", "64", "--bands", "4")
            try await vips("black", path("black.png"), "64", "64", "--bands", "3")
            try await vips("linear", path("black.png"), path("red.png"), "0 0 0", "255 0 0", "--uchar")
            try await vips("arrayjoin", "\(path("red.png")) \(path("black.png"))", path("strip.png"), "--across", "1")
            try await vips("gifsave", path("strip.png"), path("both.gif"), "--page-height", "64")
            try await vips("icc_transform", path("red.png"), path("p3.png"), "p3", "--input-profile", "srgb")
            func look(_ name: String) async throws -> Preview {
                try preview(daemon, try await wait(daemon, try daemon.data("mine/\(name)"), name))
            }
            #expect(try await point(look("clear.png"), daemon, 30, 30).last == 0)
            for name in ["both.gif", "p3.png"] {
                let red = try await look(name)
                #expect(red.sides == [64, 64] && !red.chunks.contains("ANIM"))
                let point = try await point(red, daemon, 30, 30)
                #expect(point.count >= 3 && point[0] > 240 && point[1] < 15 && point[2] < 15, "\(name): \(point)")
            }
            let plain = Set(["VP8 ", "VP8L", "VP8X", "ALPH"])
            let dated = try await look("p3.png")
            #expect(plain.isSuperset(of: dated.chunks), "\(dated.chunks)")
            try await vips("copy", path("small.png"), path("small.jpg"))
            var camera = DNG(
                64, 32, colours: Array(repeating: 90, count: 64 * 32 * 3),
                preview: Array(try daemon.data("mine/small.jpg")))
            camera.orientation = 6
            try daemon.write(Data(camera.bytes), to: "mine/turned.dng")
            let turned = try await look("turned.dng")
            #expect(turned.sides[0] < turned.sides[1] && plain.isSuperset(of: turned.chunks), "\(turned.sides)")
        }
    }

    @Test("a width is 1 to 1280, and selects the smaller sufficient size")
    func widths() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            let job = try await wait(daemon, Picture.png(width: 1400, height: 700), "a.png")
            for (width, side) in [(1, 320), (320, 320), (321, 1280), (1280, 1280)] {
                #expect(try preview(daemon, job, width: width).sides == [side, side / 2])
            }
            #expect(try made(daemon) == 2)
            for width in [0, 1281, -1, .min, .max] {
                guard case .badValue(let message) = refusal(daemon, Call.Open(id: job, width: width)) else {
                    Issue.record("\(width) was taken")
                    continue
                }
                #expect(message.contains("width=\(width)") && message.contains("1 to 1280"))
            }
            let outcome = try await daemon.pipectl(
                "get", "\(job)", "--original", "--width", "100", "-o", daemon.root.path, "-j")
            #expect(outcome.status == 0 && daemon.exists("a.webp"), "\(outcome)")
            let wrong = try await daemon.pipectl("get", "\(job)", "--original", "--width", "1281", "-o", "-")
            #expect(wrong.status != 0 && wrong.errors.contains("1 to 1280"), "\(wrong)")
        }
    }

    @Test("a small result is its own preview; a larger one, an animation and an original are not")
    func passedThrough() async throws {
        let moving = "[Recipe]\nInbox=moving\n[Output]\nChain=save format=webp pages=all\n"
        try await DaemonFixture.with(Self.files.merging(["etc/recipes.d/moving.recipe": moving]) { $1 }) { daemon in
            try daemon.drop(Picture.png(width: 320, height: 20), as: "a.png", inbox: "inbox/plain")
            try daemon.drop(Picture.png(width: 321, height: 20), as: "b.png", inbox: "inbox/plain")
            try daemon.write(Picture.png(width: 20, height: 40), to: "mine/c.png")
            try await vips("gifsave", daemon.path("mine/c.png"), daemon.path("mine/c.gif"), "--page-height", "20")
            try daemon.drop(daemon.data("mine/c.gif"), as: "c.gif", inbox: "inbox/moving")
            try await daemon.waitForAll()
            let jobs = Dictionary(uniqueKeysWithValues: try daemon.list().map { ($0.input, $0.id) })
            let (a, b, c) = (try #require(jobs["a.png"]), try #require(jobs["b.png"]), try #require(jobs["c.gif"]))
            let whole = Preview(name: "a.jpg", data: try daemon.data("outbox/plain/a.jpg"))
            #expect(try preview(daemon, a, result: 1) == whole)
            #expect(try preview(daemon, a, result: 1, width: 1280) == whole)
            #expect(try preview(daemon, a).name == "a.webp")
            #expect(try preview(daemon, b, result: 1).sides == [320, 20])
            #expect(try preview(daemon, b, result: 1, width: 1280).name == "b.jpg")
            let still = try preview(daemon, c, result: 1)
            #expect(still.name == "c.webp" && !still.chunks.contains("ANIM") && still.sides == [20, 20])
        }
    }

    // MARK: - Errors

    @Test("an unreadable picture is refused with a message, and not retried for each request until a reload")
    func errors() async throws {
        let files = Self.files.merging(
            ["etc/pipelined.conf": "[Daemon]\nMaxPixels=100M\n[Inbox]\nSettle=1ms\n[Queues]\nRender=1\n"]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            #expect(refusal(daemon, Call.Open(id: 7, width: 320)) == .noSuchJob(7))
            for (name, data) in [
                ("text.png", Data("Dear diary".utf8)), ("large.tif", Picture.tiff(width: 12000, height: 9000)),
                ("gone.png", Picture.small), ("good.png", Picture.small),
            ] { try daemon.drop(data, as: name, inbox: "inbox/plain") }
            try await daemon.waitForAll()
            let jobs = Dictionary(uniqueKeysWithValues: try daemon.list().map { ($0.input, $0.id) })
            func words(_ name: String, result: Int? = nil) throws -> String {
                let error = refusal(daemon, Call.Open(id: try #require(jobs[name]), result: result, width: 320))
                guard case .refused(let message) = error else { return "\(error as Any)" }
                return message
            }
            #expect(try words("text.png").contains("looks like text"))
            #expect(try words("large.tif").contains("more than MaxPixels"))
            #expect(try words("text.png", result: 1).contains("has no results"))
            #expect(try words("good.png", result: 2).contains("has one result"))
            try FileManager.default.removeItem(atPath: daemon.path("archive/plain/gone.png"))
            #expect(try words("gone.png").contains("is not there any more"))
            try daemon.write("another", to: "outbox/plain/good.jpg")
            #expect(try words("good.png", result: 1).contains("somebody has changed it"))

            // No worker is free now, so the daemon can return these messages only if it has remembered them.
            try daemon.drop(Picture.tiff(width: 6000, height: 4500), as: "slow.tif", inbox: "inbox/slow")
            _ = try await daemon.worker(holding: "slow.tif")
            #expect(try words("large.tif").contains("more than MaxPixels"))
            #expect(try words("text.png").contains("looks like text"))
            _ = try daemon.call(Call.CancelAll())

            try daemon.write(Self.files["etc/pipelined.conf"] ?? "", to: "etc/pipelined.conf")
            #expect(try await daemon.pipectl("reload").status == 0)
            #expect(try preview(daemon, try #require(jobs["large.tif"])).sides == [320, 240])
        }
    }

    // MARK: - Turns

    @Test("jobs precede previews, the latest preview is made first, equal requests share one, abandoned ones get none")
    func turns() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            var jobs: [String: Int] = [:]
            for name in ["a.png", "b.png", "c.png"] { jobs[name] = try await wait(daemon, Picture.small, name) }
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            try daemon.drop(Picture.tiff(width: 6000, height: 4500), as: "slow.tif", inbox: "inbox/slow")
            _ = try await daemon.worker(holding: "slow.tif")
            try daemon.drop(Picture.small, as: "later.png", inbox: "inbox/plain")
            _ = try await daemon.job("later.png", becomes: "queued")
            func ask(_ name: String) async throws -> RawClient {
                try await self.ask(daemon, try #require(jobs[name]), name)
            }
            let first = try await ask("a.png")
            let (second, third) = (try await ask("b.png"), try await ask("b.png"))
            var gone: RawClient? = try await ask("c.png")
            _ = gone
            gone = nil
            while daemon.holds(daemon.process, "c.png") { await Task.yield() }
            let running = try #require(try daemon.list(["running"]).first)
            _ = try daemon.call(Call.Cancel(ids: [running.id]))
            let answer = try #require(try first.answer())
            #expect(answer.error == nil && answer.parameters["name"] as? String == "a.webp", "\(answer)")
            var state = pollfd(fd: second.socket.number, events: Int16(POLLIN), revents: 0)
            #expect(poll(&state, 1, 0) == 1, "the preview that was asked for later came later")
            for client in [second, third] {
                let answer = try #require(try client.answer())
                #expect(answer.error == nil && answer.parameters["name"] as? String == "b.webp", "\(answer)")
            }
            let renders = try daemon.call(Call.Metrics()).metrics
                .first { $0.name == "pipelined_operation_duration_seconds" }?.samples
                .first { $0.labels["operation"] == "render" }?.count
            #expect(renders == 5, "the job that waited has not been rendered before")
            #expect(try made(daemon) == 2 && daemon.files(in: "state/previews").count == 2)
        }
    }

    @Test("while jobs fill the queue, a preview may pass between them every PreviewPause=")
    func between() async throws {
        let often = Self.files["etc/pipelined.conf"]?.replacing("=1h", with: "=1ms") ?? ""
        try await DaemonFixture.with(Self.files.merging(["etc/pipelined.conf": often]) { $1 }) { daemon in
            try pause(daemon)
            let job = try await wait(daemon, Picture.small, "a.png")
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            for number in 1...30 {
                try daemon.drop(Picture.tiff(width: 800, height: 600), as: "\(number).tif", inbox: "inbox/slow")
            }
            _ = try await daemon.job("30.tif", becomes: "queued")
            _ = try daemon.call(Call.Resume())
            let client = try await ask(daemon, job, "a.png")
            #expect(try client.answer()?.error == nil)
            let jobs = try daemon.status().jobs
            #expect(jobs.queued + jobs.running > 0, "\(jobs)")
            _ = try daemon.call(Call.CancelAll())
        }
    }

    @Test("a client that disconnects withdraws its preview from the work, and leaves nothing behind")
    func gone() async throws {
        let none = (Self.files["etc/pipelined.conf"] ?? "") + "[Keep]\nPreviews=0\n"
        try await DaemonFixture.with(Self.files.merging(["etc/pipelined.conf": none]) { $1 }) { daemon in
            try pause(daemon)
            let huge = try await wait(daemon, Picture.tiff(width: 16000, height: 16000), "huge.tif")
            let small = try await wait(daemon, Picture.small, "a.png")
            func isWithdrawn() async throws -> Bool {
                let before = try made(daemon)
                var client: RawClient? = try send(daemon, huge)
                func isHeld() throws -> Bool { try daemon.workers().contains { daemon.holds($0, "huge.tif") } }
                while try client != nil && !isHeld() && made(daemon) == before { await Task.yield() }
                client = nil
                #expect(try preview(daemon, small).sides == [32, 24])
                #expect(try !daemon.workers().contains { daemon.holds($0, "huge.tif") })
                while !daemon.files(in: "state/previews").isEmpty { await Task.yield() }
                return try made(daemon) == before + 1
            }
            // The preview may be finished before the client disconnects, so try several times.
            for _ in 0..<20 { if try await isWithdrawn() { return } }
            Issue.record("it was made to its end each time")
        }
    }

    @Test("a job that waits for memory gets it before a preview that has waited longer")
    func memory() async throws {
        func configuration(_ budget: String) -> String {
            "[Daemon]\nMemoryBudget=\(budget)\n[Inbox]\nSettle=1ms\n[Queues]\nRender=3\n"
        }
        let files = Self.files.merging(["etc/pipelined.conf": configuration("64M")]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            let slow = Picture.tiff(width: 3000, height: 2000)
            try daemon.drop(slow, as: "first.tif", inbox: "inbox/slow")
            let first = try await daemon.job("first.tif", becomes: "failed")
            let error = try #require(try daemon.list().first?.error)
            let need = try #require(error.firstMatch(of: /needs about ([0-9]+) MB/).flatMap { Int($0.1) }, "\(error)")
            // While one such picture is being rendered, this memory budget has no room for anything else.
            try daemon.write(configuration("\(need + 1)000000"), to: "etc/pipelined.conf")
            #expect(try await daemon.pipectl("reload").status == 0)
            try daemon.drop(Picture.tiff(width: 1500, height: 1000), as: "a.tif", inbox: "inbox/plain")
            let small = try await daemon.job("a.tif", becomes: "done")
            // Wait until the original lies in the archive, where previews can read it.
            try await daemon.waitForAll()
            _ = try daemon.call(Call.Retry(ids: [first]))
            func granted() throws -> Double {
                let metrics = try daemon.call(Call.Metrics()).metrics
                return metrics.first { $0.name == "pipelined_memory_granted_bytes" }?.samples.first?.value ?? 0
            }
            while try granted() < Double(need - 1) * 1e6 { await Task.yield() }
            let client = try send(daemon, small)
            while try !daemon.workers().contains(where: { daemon.holds($0, "a.tif") }) { await Task.yield() }
            try daemon.drop(slow, as: "second.tif", inbox: "inbox/slow")
            let waiting = try await daemon.event {
                $0.job?.input == "second.tif" && $0.job?.reason?.hasPrefix("memory: ") == true
            }
            _ = try daemon.call(Call.Cancel(ids: [first]))
            try await daemon.event(since: waiting.cursor) {
                $0.job?.input == "second.tif" && $0.job?.state == "running"
            }
            #expect(try made(daemon) == 0)
            _ = try daemon.call(Call.Cancel(ids: [try #require(waiting.job?.id)]))
            #expect(try client.answer()?.error == nil && made(daemon) == 1)
        }
    }

    @Test("a stop answers the clients that wait for a preview")
    func stopped() async throws {
        let quick = "[Daemon]\nDrainTimeout=0s\n" + (Self.files["etc/pipelined.conf"] ?? "")
        try await DaemonFixture.with(Self.files.merging(["etc/pipelined.conf": quick]) { $1 }) { daemon in
            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/plain")
            try await daemon.waitForAll()
            try daemon.drop(Picture.tiff(width: 6000, height: 4500), as: "slow.tif", inbox: "inbox/slow")
            _ = try await daemon.worker(holding: "slow.tif")
            let client = try await ask(daemon, 1, "a.png")
            await daemon.stop()
            let answer = try #require(try client.answer())
            #expect(answer.error == "Refused" && "\(answer)".contains("the daemon is stopping"), "\(answer)")
        }
    }

    // MARK: - Files

    @Test("a kill leaves no partial preview; previews that a user removes or truncates are made again")
    func files() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            let small = try await wait(daemon, Picture.small, "a.png")
            let whole = try preview(daemon, small)
            let huge = try await wait(daemon, Picture.tiff(width: 16000, height: 16000), "huge.tif")
            let client = try send(daemon, huge)
            while daemon.files(in: "state/previews").count == 1 { await Task.yield() }
            await daemon.stop(SIGKILL)
            #expect(client.isClosed())
            try await daemon.start()
            while daemon.files(in: "state/previews").contains(where: { $0.hasSuffix(".part") }) { await Task.yield() }
            #expect(try preview(daemon, small) == whole && made(daemon) == 0)
            let name = daemon.files(in: "state/previews").first { $0.hasPrefix("\(small)-") }
            let file = daemon.path("state/previews/\(try #require(name))")
            let changes: [() throws -> Void] = [
                { try FileManager.default.removeItem(atPath: file) },
                { try Data().write(to: URL(fileURLWithPath: file)) },
                { try whole.data.prefix(50).write(to: URL(fileURLWithPath: file)) },
                { try Data(count: whole.data.count).write(to: URL(fileURLWithPath: file)) },
                { try FileManager.default.removeItem(atPath: daemon.path("state/previews")) },
            ]
            for (number, change) in changes.enumerated() {
                try change()
                #expect(try preview(daemon, small) == whole && made(daemon) == number + 1)
            }
            let rights = try FileManager.default.attributesOfItem(atPath: daemon.path("state/previews"))
            #expect(rights[.posixPermissions] as? Int == 0o700)
        }
    }

    @Test("Previews= limits their total size, the least recently used go first, and 0 keeps none")
    func bound() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try pause(daemon)
            var jobs: [Int] = []
            for number in 0..<9 { jobs.append(try await wait(daemon, Picture.small, "\(number).png")) }
            func keep(_ bytes: Int) async throws {
                try daemon.write(
                    (Self.files["etc/pipelined.conf"] ?? "") + "[Keep]\nPreviews=\(bytes)\n", to: "etc/pipelined.conf")
                let outcome = try await daemon.pipectl("reload")
                try #require(outcome.status == 0, "\(outcome.errors)")
            }
            func kept() -> [Int] {
                let numbers = Set(daemon.files(in: "state/previews").compactMap { Int($0.prefix { $0 != "-" }) })
                return jobs.indices.filter { numbers.contains(jobs[$0]) }
            }
            let size = try preview(daemon, jobs[0]).data.count
            try await keep(8 * size)
            for job in jobs.prefix(8) { _ = try preview(daemon, job) }
            #expect(kept() == Array(0..<8))
            // Requesting the first preview makes it the most recently used.
            _ = try preview(daemon, jobs[0])
            _ = try preview(daemon, jobs[8])
            #expect(try kept() == [0, 3, 4, 5, 6, 7, 8] && made(daemon) == 9)
            try await keep(7 * size - 1)
            while kept().count == 7 { await Task.yield() }
            #expect(kept() == [0, 4, 5, 6, 7, 8])
            // A preview that does not fit into the cache is still returned.
            for bytes in [size - 1, 0] {
                try await keep(bytes)
                while !kept().isEmpty { await Task.yield() }
                let before = try made(daemon)
                for _ in 0..<2 { #expect(try preview(daemon, jobs[0]).sides == [32, 24]) }
                #expect(try made(daemon) == before + 2 && daemon.files(in: "state/previews") == [])
            }
        }
    }

    @Test("after a redo the preview shows the new picture")
    func redo() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.png(width: 400, height: 300), as: "a.png", inbox: "inbox/plain")
            try await daemon.waitForAll()
            let before = try preview(daemon, 1, result: 1)
            #expect(before.sides == [320, 240])
            try daemon.write(
                "[Recipe]\nInbox=plain\n[Output]\nChain=crop width=400 height=200 | save\n",
                to: "etc/recipes.d/plain.recipe")
            #expect(try await daemon.pipectl("reload").status == 0)
            let outcome = try await daemon.pipectl("redo", "1", "--wait")
            try #require(outcome.status == 0, "\(outcome.errors)")
            #expect(try preview(daemon, 1, result: 1).sides == [320, 160])
            // The original's preview is unchanged, and is not made again.
            let original = try preview(daemon, 1)
            #expect(try original.sides == [320, 240] && made(daemon) == 3)
        }
    }
}
