import Dispatch
import Glibc
import PipelineControl
import ServiceProgram
import Synchronization
import SystemCalls

/// Makes calls to the daemon. No thread blocks until an answer arrives: while the daemon hangs, each call occupies only
/// a connection. The number of connections is limited.
actor ControlCalls: QueueActor {
    struct Answered<Reply: Sendable>: Sendable {
        var reply: Reply
        /// The descriptors that the daemon sent with the reply.
        var files: [Descriptor]
    }

    /// A handle for withdrawing a call when nobody waits for its answer any more.
    struct Ticket: Sendable {
        fileprivate let calls: ControlCalls
        fileprivate let id: UInt

        func withdraw() { calls.async { [id] in $0.withdraw(id) } }
    }

    /// Maximum concurrent calls. Further calls wait until another call has finished.
    private static let most = 48
    /// Seconds that a call waits for the daemon's answer.
    static let patience = 10

    nonisolated let executor: QueueExecutor
    nonisolated let path: String
    private let last = Atomic<UInt>(0)
    private var running: [UInt: any Conversation] = [:]
    /// Answered calls whose connections are kept open.
    private var kept: [UInt: any Conversation] = [:]
    private var waiting: [(id: UInt, begin: @Sendable (isolated ControlCalls) -> Void)] = []

    init(path: String, on executor: QueueExecutor) { (self.path, self.executor) = (path, executor) }

    /// Makes a call that has one reply. Calls `done` once on the executor's queue, but never after the call was
    /// withdrawn.
    @discardableResult
    nonisolated func call<Call: ControlCall>(
        _ call: Call, passing files: [Descriptor] = [], patience: Int = patience,
        _ done: @escaping @Sendable (Result<Answered<Call.Reply>, NoAnswer>) -> Void
    ) -> Ticket {
        let id = next()
        async { calls in
            calls.begin(id) { calls in
                calls.open(id, Call.self, { try $0.begin(call, descriptors: files) }) { event in
                    switch event {
                    case .replies(let replies, let files):
                        guard let reply = replies.first else { return }
                        done(.success(Answered(reply: reply, files: files)))
                    case .over: break
                    case .failed(let why): done(.failure(why))
                    }
                }
                calls.after(.seconds(patience)) { calls in
                    guard calls.running[id] != nil else { return }
                    calls.withdraw(id)
                    done(.failure(.silent(for: patience)))
                }
            }
        }
        return Ticket(calls: self, id: id)
    }

    /// Makes a call that has one reply, and keeps the connection open until the ticket is withdrawn, because the daemon
    /// undoes the call when the connection ends. Starts at once even if the maximum number of calls is running.
    nonisolated func keep<Call: ControlCall>(
        _ call: Call, _ done: @escaping @Sendable (Result<Answered<Call.Reply>, NoAnswer>, Ticket) -> Void
    ) {
        let ticket = Ticket(calls: self, id: next())
        async { calls in
            calls.open(ticket.id, Call.self, { try $0.begin(call) }) { event in
                switch event {
                case .replies(let replies, let files):
                    guard let reply = replies.first else { return }
                    // The reply ends a conversation, unless `kept` contains that conversation.
                    calls.assumeIsolated { $0.kept[ticket.id] = $0.running[ticket.id] }
                    done(.success(Answered(reply: reply, files: files)), ticket)
                case .over: break
                case .failed(let why): done(.failure(why), ticket)
                }
            }
            calls.after(.seconds(Self.patience)) { calls in
                guard calls.running[ticket.id] != nil else { return }
                calls.withdraw(ticket.id)
                done(.failure(.silent(for: Self.patience)), ticket)
            }
        }
    }

    /// Makes a call that has a stream of replies (Varlink's `more`). The call counts towards the maximum of concurrent
    /// calls, but starts at once even if the maximum number of calls is running.
    nonisolated func follow<Call: ControlCall>(
        _ call: Call, _ each: @escaping @Sendable (Happening<Call.Reply>) -> Void
    ) -> Ticket {
        let id = next()
        async { $0.open(id, Call.self, { try $0.start(call) }, each) }
        return Ticket(calls: self, id: id)
    }

    private nonisolated func next() -> UInt { last.wrappingAdd(1, ordering: .relaxed).newValue }

    private func begin(_ id: UInt, _ begin: @escaping @Sendable (isolated ControlCalls) -> Void) {
        if running.count < Self.most { begin(self) } else { waiting.append((id, begin)) }
    }

    private func open<Call: ControlCall>(
        _ id: UInt, _: Call.Type, _ send: (ControlClient) throws -> Void,
        _ tell: @escaping @Sendable (Happening<Call.Reply>) -> Void
    ) {
        do {
            let client = try ControlClient(path: path)
            client.wait(atMost: Self.patience)
            try send(client)
            let source = ReadySource(client.socket, queue: queue)
            running[id] = OneConversation<Call>(client: client, source: source, tell: tell)
            source.activate { [weak self] in self?.assumeIsolated { $0.read(id) } }
        } catch {
            tell(.failed(said(error)))
            fill()
        }
    }

    private func read(_ id: UInt) {
        // A missing entry means that the conversation is in `kept`. The daemon sends nothing more in a kept
        // conversation, so the connection must have ended.
        guard let conversation = running[id] else { return end(id) }
        do {
            guard try conversation.read() else { return }
            running[id] = nil
            if kept[id] == nil { conversation.source.cancel() }
            conversation.tellEnd()
        } catch {
            end(id)
            conversation.fail(said(error))
        }
        fill()
    }

    private func withdraw(_ id: UInt) {
        waiting.removeAll { $0.id == id }
        end(id)
        fill()
    }

    private func end(_ id: UInt) {
        for conversation in [running.removeValue(forKey: id), kept.removeValue(forKey: id)] {
            conversation?.source.cancel()
        }
    }

    private func fill() {
        while running.count < Self.most, !waiting.isEmpty { waiting.removeFirst().begin(self) }
    }

    private func said(_ error: any Error) -> NoAnswer {
        switch error {
        case let error as ControlError: .refused(error)
        case let error as SystemError: .away("no daemon answers (\(error.reason))")
        default: .away("the daemon does not answer: \(error)")
        }
    }
}

/// An event of a call that streams its replies.
enum Happening<Reply: Sendable>: Sendable {
    case replies([Reply], [Descriptor])
    case over
    case failed(NoAnswer)
}

private protocol Conversation {
    var source: ReadySource { get }
    /// Reads what the daemon has sent, and returns whether the call has finished.
    func read() throws -> Bool
    func tellEnd()
    func fail(_ why: NoAnswer)
}

private struct OneConversation<Call: ControlCall>: Conversation {
    let client: ControlClient
    let source: ReadySource
    let tell: @Sendable (Happening<Call.Reply>) -> Void

    func read() throws -> Bool {
        let (replies, isOver) = try client.receive(Call.self)
        if !replies.isEmpty { tell(.replies(replies, client.takeFiles())) }
        return isOver
    }

    func tellEnd() { tell(.over) }
    func fail(_ why: NoAnswer) { tell(.failed(why)) }
}
