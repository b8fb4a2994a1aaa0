import Foundation
public import SystemCalls

public struct WorkerPacket: Sendable {
    let bytes: [UInt8]
    let descriptors: [Descriptor]

    public init(_ message: some Encodable, descriptors: [Descriptor] = []) throws {
        let packed = (message as? any PackedMessage)?.pack()?.bytes
        bytes = try packed ?? Array(JSONEncoder().encode(message))
        guard bytes.count <= WorkerChannel.longestMessage else { throw WorkerChannelError.tooLong(bytes.count) }
        self.descriptors = descriptors
    }
}
