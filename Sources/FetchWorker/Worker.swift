import CCurl
import Glibc
import SystemCalls
import WorkerProtocol

/// Runs all transfers concurrently on one thread. Exits when the supervisor closes the socket.
final class Worker {
    private let channel: WorkerChannel
    private var all: UnsafeMutableRawPointer
    private var transfers: [Int: Transfer] = [:]
    private var byHandle: [UnsafeMutableRawPointer: Transfer] = [:]
    /// Each transfer's `arrived` count at the transfer's last report.
    private var reported: [Int: Int] = [:]
    private var reportedAt = ContinuousClock.now
    private var beats = 0

    /// Interval at which the worker reports progress and looks for stalled transfers.
    private static let beat = Duration.milliseconds(200)
    /// Number of beats between two reports on a transfer that is still waiting for a connection.
    private static let waiting = 25

    init?(channel: WorkerChannel) {
        guard let all = Self.bundle() else { return nil }
        (self.channel, self.all) = (channel, all)
    }

    private static func bundle() -> UnsafeMutableRawPointer? {
        let all = curl_multi_init()
        if let all { ccurl_multi_set_number(all, CURLMOPT_MAXCONNECTS, 64) }
        return all
    }

    func run(missing: [String]) -> Never {
        send(.hello(version: Release.version, missing: missing))
        while true {
            var order = curl_waitfd(fd: channel.socket.number, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            curl_multi_poll(all, &order, 1, transfers.isEmpty ? 60_000 : 100, nil)
            if order.revents != 0 { receive() }
            var running: Int32 = 0
            curl_multi_perform(all, &running)
            collect()
            tick()
        }
    }

    private func receive() {
        do {
            // The supervisor has exited, so no process waits for the transfers.
            guard let (order, descriptors) = try channel.receive(FetchOrder.self) else { _exit(0) }
            switch order {
            case .fetch(let request): begin(request, into: descriptors.first)
            case .cancel(let id):
                guard let transfer = transfers[id] else { return }
                // A last report tells the supervisor where the next attempt can resume.
                report(transfer)
                end(id)
                if transfers.isEmpty { hangUp() }
                send(.cancelled(id: id))
            }
        } catch {
            say("a message can't be read: \(error)")
            _exit(EX_PROTOCOL)
        }
    }

    private func begin(_ request: FetchRequest, into target: Descriptor?) {
        do throws(FetchFailure) {
            guard let target else { throw FetchFailure(.transient, "the message carried no file") }
            guard let transfer = Transfer(request, into: target) else {
                throw FetchFailure(.transient, "libcurl is out of memory")
            }
            try transfer.prepare()
            ccurl_multi_set_number(all, CURLMOPT_MAX_HOST_CONNECTIONS, request.limits.perHost)
            transfers[request.id] = transfer
            byHandle[transfer.handle] = transfer
            curl_multi_add_handle(all, transfer.handle)
        } catch {
            send(.failed(id: request.id, error))
        }
    }

    /// Handles the transfers that libcurl has finished.
    private func collect() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(all, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = byHandle[handle]
            else { continue }
            // Read the result first, because removing the handle frees the message.
            let result = ccurl_result(message)
            curl_multi_remove_handle(all, handle)
            let id = transfer.request.id
            switch transfer.ended(result) {
            case .redirected: curl_multi_add_handle(all, handle)
            case .done(let file):
                end(id)
                send(.done(id: id, file))
            case .failed(var failure):
                failure.kept = transfer.kept
                end(id)
                send(.failed(id: id, failure))
            }
        }
    }

    private func tick() {
        let now = ContinuousClock.now
        guard now - reportedAt >= Self.beat else { return }
        reportedAt = now
        beats += 1
        for (id, transfer) in transfers {
            if transfer.isStalled(at: now) {
                var failure = transfer.stalled
                failure.kept = transfer.kept
                end(id)
                send(.failed(id: id, failure))
            } else if reported[id] != transfer.arrived || (transfer.isWaiting && beats % Self.waiting == 0) {
                reported[id] = transfer.arrived
                report(transfer)
            }
        }
    }

    private func report(_ transfer: Transfer) {
        send(
            .progress(
                id: transfer.request.id, received: transfer.received, total: transfer.total, kept: transfer.kept))
    }

    /// Removes a transfer and closes its connection, unless another transfer can use the connection.
    private func end(_ id: Int) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        reported[id] = nil
        byHandle[transfer.handle] = nil
        curl_multi_remove_handle(all, transfer.handle)
    }

    /// Closes all idle connections, because no connection may stay open after `cancel-all`.
    private func hangUp() {
        guard let fresh = Self.bundle() else { return }
        curl_multi_cleanup(all)
        all = fresh
    }

    private func send(_ message: FetchMessage) {
        do {
            try channel.send(message)
        } catch let error as WorkerChannelError {
            say("\(error)")
        } catch {
            // The supervisor has exited. The receiving loop sees the closed socket, and ends this process.
        }
    }

    private func say(_ text: String) {
        let line = Array("pipelined-fetch: \(text)\n".utf8)
        _ = Glibc.write(2, line, line.count)
    }
}
