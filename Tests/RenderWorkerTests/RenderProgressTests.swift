import CVips
import Glibc
import Testing
import WorkerProtocol

/// Tests a worker's messages during a render.
struct RenderProgressTests {
    /// Renders a picture; returns the reported progress and the final answer.
    private func told(
        _ worker: WorkerProcess, into targets: [TemporaryFile]
    ) throws -> (figures: [(done: Int64, total: Int64)], answer: WorkerMessage) {
        try worker.channel.send(SupervisorMessage.render, descriptors: targets.map { try $0.reopened(O_RDWR) })
        var figures: [(done: Int64, total: Int64)] = []
        while true {
            let message = try worker.message()
            guard case .progress(let done, let total) = message else { return (figures, message) }
            figures.append((done, total))
        }
    }

    @Test("A long render reports growing progress over all its outputs, and nothing after its answer")
    func grows() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(2000, 1500).file(.png)
        // These outputs take so long that there are several reports on any machine.
        let chains = Array(repeating: "resize scale=1.5 kernel=lanczos3 | save format=png", count: 8)
        let outputs = try chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) }
        _ = try worker.open([source], outputs)
        let (figures, answer) = try told(worker, into: chains.map { _ in try TemporaryFile() })
        guard case .rendered(let results) = answer else { throw Unexpected("\(answer)") }
        #expect(results.count == chains.count)
        #expect(figures.count > 1)
        let half: Int64 = 4 * 2000 * 1500
        #expect(figures.allSatisfy { $0.total == 2 * half && $0.done > 0 && $0.done <= $0.total })
        #expect(zip(figures, figures.dropFirst()).allSatisfy { $0.done < $1.done })
        #expect(figures.contains { $0.done < half } && figures.contains { $0.done > half })
        // The next answer must belong to the next request.
        _ = try worker.open(source, "noir")
    }

    @Test("Progress includes turning a picture upright")
    func turned() throws {
        let worker = try WorkerProcess()
        let turned = try Pixels.colourful(2000, 1500).file(.jpeg) {
            $0.set("orientation", 6)
            return $0
        }
        _ = try worker.open(turned, "resize scale=3 kernel=lanczos3 | save format=png")
        let (figures, answer) = try told(worker, into: [TemporaryFile()])
        guard case .rendered = answer else { throw Unexpected("\(answer)") }
        #expect(figures.allSatisfy { $0.done <= $0.total && $0.total == 2000 * 1500 })
        #expect(zip(figures, figures.dropFirst()).allSatisfy { $0.done < $1.done })
        #expect((figures.last?.done ?? 0) > 2000 * 1500 / 2)
    }

    @Test("A cancel after the first report works")
    func cancelled() throws {
        let worker = try WorkerProcess()
        _ = try worker.open(
            Pixels.colourful(2500, 2000).file(.png), "resize scale=3 kernel=lanczos3 | save format=png")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        guard case .progress = try worker.message() else { throw Unexpected("no figure") }
        guard case .cancelled = try worker.ask(.cancel) else { throw Unexpected("not cancelled") }
    }

    @Test(
        "Encoders that start after the last pixel have a share of the progress",
        arguments: ["avif", "webp", "jxl"])
    func encoding(_ format: String) throws {
        let worker = try WorkerProcess("--jxl")
        // The blur is so slow that the encoder's progress is reported on any machine.
        let chain = "blur radius=50 | save format=\(format)"
        _ = try worker.open(Pixels.colourful(2000, 1500).file(.png), chain)
        let (figures, answer) = try told(worker, into: [TemporaryFile()])
        guard case .rendered = answer else { throw Unexpected("\(answer)") }
        let last = try #require(figures.last)
        #expect(last.total == 2000 * 1500)
        #expect(last.done > 0 && last.done < last.total / 5)
    }

    @Test("libwebp reports its progress with planes, for each of several results")
    func planes() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.noise(300, 200).file(.jpeg) {
            $0.set("orientation", 6)
            return try $0.then { cvips_resize($0, $1, 10, 10, VIPS_KERNEL_NEAREST) }
        }
        let chains = ["save format=webp", "resize scale=0.9 | save format=webp"]
        let outputs = try chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) }
        let paths = try worker.open([source], outputs).decoderPaths
        #expect(paths.allSatisfy { $0.hasPrefix("jpeg, planes, whole, once for 2 outputs") }, "\(paths)")
        let (figures, answer) = try told(worker, into: [TemporaryFile(), TemporaryFile()])
        guard case .rendered = answer else { throw Unexpected("\(answer)") }
        let total: Int64 = 2 * 3000 * 2000
        #expect(figures.allSatisfy { $0.total == total && $0.done <= total }, "\(figures)")
        #expect(zip(figures, figures.dropFirst()).allSatisfy { $0.done < $1.done }, "\(figures)")
        // The encoders need most of the time, and report their own progress.
        #expect(figures.contains { $0.done > total / 10 && $0.done < total * 4 / 10 }, "\(figures)")
        #expect(figures.contains { $0.done > total * 6 / 10 }, "\(figures)")
    }

    @Test("A cancel while libwebp encodes planes works, and the worker goes on")
    func cancelledEncoder() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.noise(300, 200).file(.webp) {
            try $0.then { cvips_resize($0, $1, 10, 10, VIPS_KERNEL_NEAREST) }
        }
        #expect(try worker.open(source, "save format=webp").decoderPaths[0].hasPrefix("webp, planes, "))
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        // Reading the pixels is a seventh of the work, so wait until the encoder has begun.
        while true {
            guard case .progress(let done, let total) = try worker.message() else { throw Unexpected("no figure") }
            if done > total / 5 { break }
        }
        guard case .cancelled = try worker.ask(.cancel) else { throw Unexpected("not cancelled") }
        _ = try worker.render(source, "resize width=100")
    }

    @Test("Checking a smaller copy for errors counts for nothing, but loading a whole picture into memory does")
    func counted() throws {
        let worker = try WorkerProcess()
        let options = ["--tile", "--pyramid", "--compression=deflate"]
        let copies = try VipsTool.run("tiffsave", Pixels.colourful(2000, 1500).file(.png), options, suffix: ".tif")
        // The progress counts AVIF's encoder as 49 evaluations of the pixels. The blur makes the evaluation slow enough
        // to be reported.
        for (chain, part) in [("resize scale=0.5", 1.0 / 50), ("resize scale=0.5 | autolevels", 2.0 / 51)] {
            let slow = "\(chain) | blur radius=50 | save format=avif"
            #expect(try worker.open(copies, slow).decoderPaths[0].contains("1/2"))
            let last = try #require(try told(worker, into: [TemporaryFile()]).figures.last)
            #expect(abs(Double(last.done) / Double(last.total) - part) < 0.001, "\(chain): \(last)")
        }
    }

    @Test("A short render sends only its answer", arguments: ["png", "webp"])
    func short(format: String) throws {
        let worker = try WorkerProcess()
        // On a busy machine some renders last long enough for a report, so one silent render is enough.
        let wasSilent = try (1...500).contains { _ in
            _ = try worker.open(Pixels.colourful(40, 30).file(.png), "noir | save format=\(format)")
            return try told(worker, into: [TemporaryFile()]).figures.isEmpty
        }
        #expect(wasSilent)
    }
}
