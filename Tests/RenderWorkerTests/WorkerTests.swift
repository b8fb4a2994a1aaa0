import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

struct WorkerTests {
    @Test("The worker says hello with its version and its filters")
    func hello() throws {
        let hello = try WorkerProcess().hello
        #expect(hello.version == Release.version)
        #expect(hello.filters.map(\.name).contains("noir"))
    }

    @Test("Without a socket the worker explains what it is")
    func alone() throws {
        let program = WorkerProcess.programs.appendingPathComponent("pipelined-render").path
        let outcome = try ChildProcess(program).wait()
        #expect(outcome.status == 2 && outcome.output.contains("The daemon starts it"))
    }

    @Test("The worker ends when its socket closes, idle or in the middle of a picture", arguments: [false, true])
    func endsWithItsSocket(isBusy: Bool) throws {
        let worker = try WorkerProcess()
        if isBusy {
            _ = try worker.open(Pixels.colourful(1500, 1200).file(.png), "save format=avif quality=90")
            try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        }
        shutdown(worker.channel.socket.number, Int32(SHUT_RDWR))
        #expect(worker.ended() == 0)
    }

    @Test("A cancel in the middle of decoding stops it, and the next picture is rendered")
    func cancelWhileDecoding() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(2500, 2000).file(.png)
        let target = try TemporaryFile()
        _ = try worker.open(source, "resize scale=1.5 kernel=lanczos3 | save format=png")
        let descriptor = try target.reopened(O_RDWR)
        try worker.channel.send(SupervisorMessage.render, descriptors: [descriptor])
        // Some bytes have been written, so the worker is decoding.
        while try descriptor.status().st_size == 0 { sched_yield() }
        guard case .cancelled = try worker.ask(.cancel) else { throw Unexpected("not cancelled") }
        #expect(try Pixels(worker.render(source, "resize width=100")).width == 100)
    }

    @Test(
        "A cancel at an encoder's end, when no encoder checks for it, still works", arguments: ["avif", "webp", "jxl"])
    func cancelWhileEncoding(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        let file = try Pixels.colourful(1200, 900).file(.jpeg)
        _ = try worker.open(file, "save format=\(format)")
        let nearlyAll = try bytesRead(by: worker) + (try file.reopened().status().st_size) * 9 / 10
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        // Once the worker has read the file, the encoder is running.
        while try bytesRead(by: worker) < nearlyAll, !worker.channel.isReady(within: .zero) { sched_yield() }
        guard case .cancelled = try worker.ask(.cancel) else { throw Unexpected("not cancelled") }
    }

    /// Returns the number of bytes that the worker has read, as the kernel counts them.
    private func bytesRead(by worker: WorkerProcess) throws -> Int {
        let counts = try String(contentsOfFile: "/proc/\(worker.process)/io", encoding: .utf8)
        let line = try #require(counts.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int(line.dropFirst("rchar: ".count)))
    }

    @Test("A cancel between open and render applies to that picture only")
    func cancelBetween() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(200, 100).file(.png)
        _ = try worker.open(source, "noir")
        try worker.channel.send(SupervisorMessage.cancel)
        guard case .cancelled = try worker.ask(.render, [TemporaryFile().reopened(O_RDWR)]) else {
            throw Unexpected("not cancelled")
        }
        try worker.channel.send(SupervisorMessage.cancel)
        _ = try worker.render(source, "noir")
    }

    @Test("After fifty pictures, good and bad, no descriptor has leaked")
    func descriptors() throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(300, 200)
        let good = try [Pixels.Format.jpeg, .png, .webp, .tiff].map { try pixels.file($0) }
        let cut = try TemporaryFile(Array(pixels.file(.jpeg).bytes.prefix(3000)))
        _ = try worker.render(good[0], "resize scale=0.5 | noir")
        let before = try worker.descriptorCount
        for index in 0..<50 {
            switch index % 5 {
            case 4: _ = try worker.failure(cut, "resize scale=0.5 | noir")
            case let kind: _ = try worker.render(good[kind], "resize scale=0.5 | noir")
            }
        }
        #expect(try worker.descriptorCount == before)
    }
}
