import DaemonRuntime
import Foundation
import Glibc
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("A broken render worker")
struct BrokenWorkerTests {
    private static func header(_ change: (inout PictureHeader) -> Void) -> WorkerMessage {
        var header = PictureHeader(
            format: "png", width: 8, height: 8, bands: 3, bitsPerSample: 8, pages: 1, orientation: 1, profile: nil,
            progressive: false, decoderPaths: ["whole"], framesTaken: [1], memory: 1 << 20)
        change(&header)
        return .opened(header)
    }

    private static let result = RenderedOutput(format: "jpeg", width: 8, height: 8, bands: 3, bytes: 100)

    /// Impossible messages about a picture that has one result.
    private static let lies: [WorkerMessage] = [
        .rendered([]), .rendered([result, result]), header { $0.decoderPaths = [] },
        header { $0.decoderPaths = ["whole", "whole"] }, header { $0.framesTaken = [] },
        header { $0.gainMapPlans = [] },
        header { $0.framesTaken = [0] }, header { $0.framesTaken = [.max] },
        header { ($0.width, $0.height) = (.max, .max) }, header { $0.width = -1 },
        header { $0.memory = .max }, header { $0.memory = -1 }, .progress(done: -1, total: .max),
        .rendered([RenderedOutput(format: "jpeg", width: 8, height: 8, bands: 3, bytes: .max)]),
    ]

    /// Returns a worker that says hello, and then answers every message with `answer`.
    private static func program(_ answer: String) -> String {
        """
        #!/usr/bin/python3
        import json, socket
        channel = socket.socket(fileno=3)
        hello = {"version": "", "filters": [], "skipped": [], "missing": [], "missingEncoders": []}
        channel.send(json.dumps({"hello": {"_0": hello}}).encode())
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, 131072, 8)
            if not message: break
            channel.send(r'''\(answer)'''.encode())
        """
    }

    @Test("a worker's impossible numbers cost only its picture", arguments: lies.indices)
    func lie(index: Int) async throws {
        try await withTemporaryFolder { folder in
            let program = "\(folder)/render"
            let answer = String(decoding: try JSONEncoder().encode(Self.lies[index]), as: UTF8.self)
            try Data(Self.program(answer).utf8).write(to: URL(fileURLWithPath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let pool = Coordination.sync { WorkerPool(program: program, resources: []) }
            defer { pool.stop {} }
            pool.set(capacity: 1, memory: 1 << 30, jobsPerWorker: 100, confined: false)
            await withCheckedContinuation { continuation in
                pool.trial(folder, within: .seconds(60)) { result in
                    if case .success(let (_, accept)) = result {
                        accept(WorkerPlugins(folder: folder, files: [:]))
                    }
                    continuation.resume()
                }
            }
            let file = try Descriptor.open("/dev/null", O_RDWR)
            let failure = await withCheckedContinuation { continuation in
                pool.run(
                    RenderTask(
                        .init(name: "a.png", outputs: [RenderOutput(name: nil, stages: [])]),
                        limits: .init(Settings(), onTruncated: .fail, raw: .preview),
                        files: .init(from: [file], into: [file]), done: { continuation.resume(returning: $0) }))
            }
            guard case .failure(.workerLost) = failure else { throw Unexpected(answer: "\(failure)") }
        }
    }

    private struct Unexpected: Error { var answer: String }
}
