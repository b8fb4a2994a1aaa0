import PipelineControl
import PipelineModel
import SystemCalls

@testable import WorkerProtocol

/// Messages between the supervisor and its workers. They are untrusted, because a hostile picture may control its
/// worker.
extension FuzzTarget {
    static let workers: [FuzzTarget] = [
        messages("render-orders", SupervisorMessage.self),
        messages("render-messages", WorkerMessage.self) { message in
            if case .hello(let hello) = message { check(hello) }
            guard message.isPlausible(results: 2) else { return }
            switch message {
            case .opened(let header), .rendering(let header), .made(let header, _):
                _ = header.pixelsToRead
                precondition(PictureHeader.memoryLimit(header.memory) > 0, "a picture has no memory")
            default: break
            }
        },
        messages("fetch-orders", FetchOrder.self),
        messages("fetch-messages", FetchMessage.self),
        messages("fleet-orders", FleetOrder.self),
        messages("fleet-messages", FleetMessage.self) { _ = $0.isPlausible { $0 == 1 ? 2 : nil } },
        trail,
    ]

    /// Checks that a message is the same after it was written and read again.
    private static func messages<Message: Codable & Sendable>(
        _ name: String, _: Message.Type, _ check: @escaping @Sendable (Message) -> Void = { _ in }
    ) -> FuzzTarget {
        FuzzTarget(name) { bytes in
            let message = try WorkerChannel.message(Message.self, bytes)
            check(message)
            // Packing a message discards its unused parts. The remaining message must stay the same when it is packed
            // and read once more.
            let sent = try WorkerChannel.message(Message.self, WorkerPacket(message).bytes)
            let again = try WorkerChannel.message(Message.self, WorkerPacket(sent).bytes)
            // Sort the bytes, because a set is written in an arbitrary order.
            let (first, second) = (try Wire.encode(sent).sorted(), try Wire.encode(again).sorted())
            precondition(first == second, "a message changes on its way")
        }
    }

    /// Checks a worker's report about its filters, which decides which chains are valid.
    private static func check(_ hello: Hello) {
        let catalog = StageCatalog(filters: hello.filters, missingEncoders: hello.missingEncoders)
        for filter in hello.filters.prefix(3) {
            for parameter in filter.parameters {
                _ = (parameter.values, parameter.example, parameter.problemWithDefault)
            }
            let words = filter.parameters.prefix(5).map { "\($0.name)=\"\($0.defaultValue ?? $0.example)\"" }
            _ = try? Chain(parsing: "\(filter.name) \(words.joined(separator: " ")) | save", catalog: catalog)
        }
    }

    private static let trail = FuzzTarget("trails", words: ["noir\n", "+"]) { bytes in
        _ = FilterTrail(reading: try Descriptor.memory(bytes)).read()
    }
}
