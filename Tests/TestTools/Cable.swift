import Foundation
import Glibc
import Synchronization
import SystemCalls

/// A proxy to a server on loopback. A test can interrupt and restore the traffic, and can react to a word that is sent.
public final class Cable: Sendable {
    private struct State {
        var isCut = false
        var wire: (word: [UInt8], body: @Sendable () -> Void)?
    }

    public let port: Int
    private let listener: Descriptor
    private let far: Int
    private let state = Mutex(State())
    private let changed = NSCondition()

    public init(to far: Int) throws {
        self.far = far
        listener = try Loopback.listen()
        port = try Loopback.port(of: listener)
        // The thread owns the descriptor, so that its number is not reused while the thread still runs.
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { return }
                self?.serve(Descriptor(owning: number))
            }
        }
    }

    deinit {
        shutdown(listener.number, Int32(SHUT_RDWR))
        mend()
    }

    /// Holds back all traffic; neither side notices.
    public func cut() { state.withLock { $0.isCut = true } }

    /// Resumes the traffic, and delivers the held-back bytes if their receiver is still connected.
    public func mend() {
        state.withLock { $0.isCut = false }
        changed.withLock { changed.broadcast() }
    }

    /// Calls `body` once, before the first piece of data with the word is forwarded to the server.
    public func trip(on word: String, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.wire = (Array(word.utf8), body) }
    }

    private func serve(_ near: Descriptor) {
        guard let far = try? Loopback.connect(to: far) else { return }
        pump(from: near, to: far) { [weak self] piece in self?.look(at: piece) }
        pump(from: far, to: near) { _ in }
    }

    /// Looks for the word in each piece alone. No word is split over two pieces, because the node sends each message in
    /// one piece.
    private func look(at piece: ArraySlice<UInt8>) {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard let wire = state.wire, piece.firstRange(of: wire.word) != nil else { return nil }
            state.wire = nil
            return wire.body
        }
        body?()
    }

    private func pump(
        from source: Descriptor, to target: Descriptor, _ look: @escaping @Sendable (ArraySlice<UInt8>) -> Void
    ) {
        Thread.detachNewThread { [weak self] in
            var room = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let got = recv(source.number, &room, room.count, 0)
                guard got > 0 else { break }
                look(room[..<got])
                self?.waitWhileCut()
                var sent = 0
                while sent < got {
                    let count = room[sent..<got].withUnsafeBytes {
                        send(target.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { break }
                    sent += count
                }
                guard sent == got else { break }
            }
            // A cut also holds back the closing of a connection.
            self?.waitWhileCut()
            for end in [source, target] { shutdown(end.number, Int32(SHUT_RDWR)) }
        }
    }

    private func waitWhileCut() {
        changed.withLock {
            while state.withLock(\.isCut) { changed.wait() }
        }
    }
}
