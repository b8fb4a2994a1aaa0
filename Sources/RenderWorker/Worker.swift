import CLinux
import CVips
import Foundation
import Synchronization
import SystemCalls
import WorkerProtocol

/// A worker's life: says hello, then one picture after the other. Pictures are rendered on the thread that calls `run`; a second one reads
/// the messages, so that a `cancel` is heard while the first works, and so that the process ends at once when its socket closes.
final class Worker: Sendable {
    // The library is constant, and its plugins are called on the rendering thread alone.
    nonisolated(unsafe) private let filters: FilterLibrary
    private let channel: WorkerChannel
    private let cancellation = Cancellation()
    private let messages = Mutex<[Message]>([])
    private let arrived = DispatchSemaphore(value: 0)

    private struct Message {
        var message: SupervisorMessage
        var descriptors: [Descriptor]
    }

    init(channel: WorkerChannel, filters: FilterLibrary) {
        self.channel = channel
        self.filters = filters
    }

    func run() -> Never {
        answer(.hello(Hello(version: Release.version, filters: filters.descriptions, skipped: filters.skipped)))
        Thread.detachNewThread { self.read() }
        var open: OpenPicture?
        while true {
            arrived.wait()
            let next = messages.withLock { $0.removeFirst() }
            switch next.message {
            case .open(let request): open = self.open(request, next.descriptors)
            case .render:
                if let picture = open { render(picture, next.descriptors) }
                open = nil
            case .close: open = nil
            case .cancel: break
            }
            // What a picture needed goes back to the system before the next one comes.
            vips_error_clear()
            malloc_trim(0)
        }
    }

    /// On the reading thread.
    private func read() -> Never {
        while let (message, descriptors) = (try? channel.receive(SupervisorMessage.self)).flatMap(\.self) {
            switch message {
            case .open: cancellation.begin(cancelled: false)
            case .cancel:
                cancellation.cancel()
                continue
            case .render, .close: break
            }
            messages.withLock { $0.append(Message(message: message, descriptors: descriptors)) }
            arrived.signal()
        }
        // Nobody waits for what is being made.
        _exit(0)
    }

    private func open(_ request: OpenRequest, _ descriptors: [Descriptor]) -> OpenPicture? {
        attempt {
            guard let source = descriptors.first else {
                throw WorkerFailure(stage: "open", message: "no file came along")
            }
            try cancellation.check()
            let picture = try OpenPicture(request, source, filters: filters, cancellation: cancellation)
            try cancellation.check()
            answer(.opened(picture.header))
            return picture
        }
    }

    private func render(_ picture: OpenPicture, _ targets: [Descriptor]) {
        _ = attempt {
            let results = try targets.indices.map { try picture.render($0, into: targets[$0]) }
            try cancellation.check()
            answer(.rendered(results))
        }
    }

    private func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch is Cancelled {
            answer(.cancelled)
        } catch let failure as WorkerFailure {
            answer(.failed(failure))
        } catch let error as VipsError {
            answer(.failed(OpenPicture.unreadable(error)))
        } catch {
            answer(.failed(WorkerFailure(stage: "open", message: "\(error)")))
        }
        return nil
    }

    private func answer(_ message: WorkerMessage) {
        // A supervisor that is gone has closed the socket, which ends this process.
        try? channel.send(message)
    }
}
