import Foundation
import PipelineControl
import PipelineModel
import SystemCalls

@testable import FleetWorker
@testable import WorkerProtocol

/// Messages from other nodes and from the NATS server.
extension FuzzTarget {
    static let fleet: [FuzzTarget] = [asked, answered, lent, said]

    private static let asked = parcels("asked", Asked.self) { asked in
        if let failure = asked.failure { checkShown(MessageCheck.printable(failure, by: "attic")) }
        let picture = LentPicture(
            id: 1, name: "a.jpg", priority: .normal, outputs: [RenderOutput(name: nil, stages: [])], filters: [:],
            limits: LentLimits(maxPixels: 1 << 20, maxResult: 1 << 20, onTruncated: .fail, raw: .preview),
            bytes: .sources([100]))
        guard let result = asked.result, MessageCheck.accepts(result, of: picture) else { return }
        precondition(result.header.isPlausible(outputs: 1), "a header that can't be is accepted")
        precondition(result.header.pixelsToRead > 0, "a picture without pixels is accepted")
    }

    private static let answered = parcels("answered", Answered.self)

    private static func parcels<Words: Codable & Sendable>(
        _ name: String, _: Words.Type, _ check: @escaping @Sendable (Words) -> Void = { _ in }
    ) -> FuzzTarget {
        FuzzTarget(name) { bytes in
            guard let parcel = bytes.withUnsafeBytes(FramedMessage<Words>.init) else { return }
            check(parcel.words)
            guard let again = try parcel.packed.withUnsafeBytes(FramedMessage<Words>.init) else { return }
            precondition(again.bytes == parcel.bytes, "a parcel's bytes change on their way")
            let (first, second) = (try Wire.encode(parcel.words), try Wire.encode(again.words))
            precondition(first == second, "a parcel's words change on their way")
        }
    }

    private static let lent = FuzzTarget("lent") { bytes in
        let offer = try JSONDecoder().decode(Offer.self, from: Data(bytes))
        guard MessageCheck.accepts(offer.picture) else { return }
        precondition(FleetMessage.offered(1, offer.picture, origin: "attic").isPlausible { _ in nil })
    }

    /// Messages about a node's presence, commands, and the replies to commands.
    private static let said = FuzzTarget("said") { bytes in
        let data = Data(bytes)
        if let presence = try? JSONDecoder().decode(Presence.self, from: data) {
            precondition(!MessageCheck.accepts(presence.node) || NodeName.isOne(presence.node.name))
        }
        _ = try? JSONDecoder().decode(TakeAnswer.self, from: data)
        if let commanded = try? JSONDecoder().decode(Commanded.self, from: data) {
            _ = (Token.isOne(commanded.token), MessageCheck.accepts(commanded.command))
        }
        if let answer = try? JSONDecoder().decode(CommandAnswer.self, from: data), let report = answer.report {
            let told = MessageCheck.printable(report)
            precondition(told.queues.count <= 16 && told.error.map(isHarmless) ?? true)
        }
        if let failure = try? JSONDecoder().decode(WorkerFailure.self, from: data) {
            checkShown(MessageCheck.printable(failure, by: "attic"))
        }
    }

    private static func checkShown(_ failure: WorkerFailure) {
        let all = [failure.stage, failure.message, failure.advice ?? "", failure.filter ?? ""]
        precondition(all.allSatisfy(isHarmless), "a node's words drive the terminal")
    }

    private static func isHarmless(_ text: String) -> Bool { !text.unicodeScalars.contains(where: \.drivesTerminals) }
}
