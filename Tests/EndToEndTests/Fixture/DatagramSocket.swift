import Foundation
import Glibc
import Synchronization
import SystemCalls
import Testing

/// A socket that receives datagrams in order, like systemd's notification socket or the journal's socket.
final class DatagramSocket: Sendable {
    private struct State {
        var messages: [String] = []
        var isOver = false
        var followers: [UUID: AsyncStream<Void>.Continuation] = [:]
    }

    /// A timeout in seconds, far longer than any awaited event takes.
    private static let patience: time_t = 120

    let path: String
    private let socket: Descriptor
    private let state = Mutex(State())

    init(_ path: String) throws {
        self.path = path
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let socket = Descriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        self.socket = socket
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(socket.number, $0, size) }
        }
        try #require(bound == 0)
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        Thread.detachNewThread { [weak self] in
            while let packet = try? Socket.receive(room: 65536, from: socket), !packet.bytes.isEmpty {
                self?.took { $0.messages.append(String(decoding: packet.bytes, as: UTF8.self)) }
            }
            self?.took { $0.isOver = true }
        }
    }

    deinit { shutdown(socket.number, Int32(SHUT_RDWR)) }

    var messages: [String] { state.withLock { $0.messages } }

    private func took(_ change: (inout State) -> Void) {
        let followers = state.withLock { state in
            change(&state)
            return Array(state.followers.values)
        }
        for follower in followers { follower.yield() }
    }

    /// Waits until the received datagrams satisfy `condition`.
    func until(_ condition: @Sendable ([String]) -> Bool) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let key = UUID()
        state.withLock { $0.followers[key] = continuation }
        defer { state.withLock { $0.followers[key] = nil } }
        continuation.yield()
        for await _ in stream {
            let (messages, isOver) = state.withLock { ($0.messages, $0.isOver) }
            if condition(messages) { return }
            guard !isOver else { throw Missing("what is waited for did not come; these did: \(messages)") }
        }
    }

    func until(_ text: String, after count: Int = 0) async throws {
        try await until { $0.dropFirst(count).contains { $0.contains(text) } }
    }
}
