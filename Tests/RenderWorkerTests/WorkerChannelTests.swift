import Glibc
import PipelineModel
import SystemCalls
import Testing
import WorkerProtocol

@Suite("Messages between supervisor and workers")
struct WorkerChannelTests {
    private func arrived<Message: Codable>(_ message: Message) throws -> Message {
        let (near, far) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        try WorkerChannel(near).send(message)
        return try #require(try WorkerChannel(far).receive(Message.self)).message
    }

    private static let headers = [nil, "sRGB ü"].map { profile in
        PictureHeader(
            format: "jpeg", width: 1 << 40, height: 2, bands: 3, bitsPerSample: 8, pages: 1, orientation: 6,
            profile: profile, progressive: profile != nil, decoderPaths: ["grey at 1/2", ""],
            framesTaken: [1, 24], memory: -1,
            taken: profile.flatMap { _ in PictureDate(exif: "2026:11:24 09:30:05", source: .digitized) },
            gainMap: profile.map { "gain map of \($0)" }, gainMapPlans: ["", "gain map kept"])
    }
    private static var gainful: RenderedOutput {
        var output = RenderedOutput(format: "jpeg", width: 1, height: 2, bands: 3, bytes: 3, dropped: ["video"])
        output.gainMap = "with gain map 1 × 1"
        return output
    }

    private static let outputs = [
        RenderedOutput(format: "png", width: 1, height: 2, pages: 24, bands: 3, bytes: .max),
        RenderedOutput(format: "", width: 0, height: 0, bands: 0, bytes: .min, lost: ["IPTC", ""], hash: "0f"),
        gainful,
    ]

    @Test("each message of a worker arrives unchanged", arguments: [0, 1])
    func fromWorkers(number: Int) throws {
        let header = Self.headers[number]
        let messages: [WorkerMessage] = [
            .opened(header), .rendering(header), .made(header, Self.outputs), .made(header, []),
            .rendered(Self.outputs), .rendered([]), .progress(done: 3, total: 1 << 50), .cancelled, .loading("a"),
            .failed(WorkerFailure(stage: "save", message: "{")),
            .said(FilterLine(filter: nil, isWarning: true, text: "")),
            .crashed(CrashNote(filter: "odd", isOutOfMemory: true)),
        ]
        for message in messages { #expect(try "\(arrived(message))" == "\(message)") }
    }

    @Test("each message of the supervisor arrives unchanged")
    func fromTheSupervisor() throws {
        let known = OpenRequest(
            name: "a\0ü", outputs: nil, maxPixels: 5, maxTexts: 7, onTruncated: .accept, filterLines: 3)
        var granted = known
        granted.grant = 0
        var new = granted
        new.outputs = [RenderOutput(name: "thumb", stages: [Stage(name: "save")])]
        for message in [SupervisorMessage.open(known), .open(granted), .open(new), .render, .cancel] {
            #expect(try "\(arrived(message))" == "\(message)")
        }
    }

    @Test(
        "bytes that are not a message cause an error, and crash nothing",
        arguments: [
            [9], [1], [3, 255, 255, 255, 255, 255, 255, 255, 127], [5, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            Array("{}".utf8), [4] + [UInt8](repeating: 255, count: 200),
        ] as [[UInt8]])
    func nonsense(bytes: [UInt8]) throws {
        let (near, far) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        try Socket.send(bytes, to: near)
        #expect(throws: (any Error).self) { try WorkerChannel(far).receive(WorkerMessage.self) }
    }
}
