import CLinux
import CVips
import Foundation
import PipelineModel
import Synchronization
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// Sends `hello`, then renders pictures one at a time on the thread that calls `run`. A second thread reads messages,
/// so that a `cancel` is noticed during a render, and the process exits as soon as its socket closes.
final class Worker: Sendable {
    private let channel: WorkerChannel
    /// Parts of the confinement that the kernel does not support.
    private let missing: [String]
    private let cancellation: Cancellation
    private let trail: FilterTrail?
    private let decoders: Decoders
    private let messages = Mutex<[Message]>([])
    private let news: HeaderNews
    private let arrived = DispatchSemaphore(value: 0)

    private struct Message {
        var message: SupervisorMessage
        var descriptors: [Descriptor]
    }

    /// State kept between messages.
    private struct State {
        let filters: FilterLibrary
        let resizers = Resizers()
        var picture: OpenPicture?
        /// Files for the results, if they came with the open request.
        var targets: [Descriptor] = []
        /// The outputs of the latest open request that listed outputs. A request that lists no outputs uses these
        /// outputs.
        var outputs: [RenderOutput] = []
    }

    init(channel: WorkerChannel, missing: [String], trail: FilterTrail?, decoders: Decoders) {
        (self.channel, self.missing, self.trail, self.decoders) = (channel, missing, trail, decoders)
        news = HeaderNews { try? channel.send(WorkerMessage.rendering($0)) }
        cancellation = Cancellation(
            progress: RenderProgress { done, total in
                try? channel.send(WorkerMessage.progress(done: done, total: total))
            })
        FilterHost.connect(
            tell: { try? channel.send($0) }, isCancelled: { [cancellation] in cancellation.isCancelled },
            trail: trail)
    }

    func run(_ filters: FilterLibrary) -> Never {
        send(
            .hello(
                Hello(
                    version: Release.version, filters: filters.descriptions, skipped: filters.skipped,
                    missing: missing, missingEncoders: Encoders.missing)), with: trail.map { [$0.memory] } ?? [])
        Thread.detachNewThread { self.read() }
        news.watch()
        var state = State(filters: filters)
        while true {
            if arrived.wait(timeout: .now() + Heap.patience) == .timedOut {
                Heap.giveBack()
                arrived.wait()
            }
            let answer = answer(to: messages.withLock { $0.removeFirst() }, &state)
            // Clean up after the picture before its answer is sent.
            VipsError.forget()
            if state.picture == nil { FilterHost.end() }
            // The header precedes the answer even if the render failed.
            if let header = news.take() { send(.rendering(header)) }
            if let answer { send(answer) }
            if state.picture == nil { Heap.giveBackMost() }
        }
    }

    private func answer(to next: Message, _ state: inout State) -> WorkerMessage? {
        let opened = state.picture
        state.picture = nil
        defer { if state.picture == nil { state.targets = [] } }
        do {
            switch next.message {
            case .open(let request):
                RefusedCall.forget()
                ReadFailure.forget()
                FilterHost.begin(lines: request.filterLines)
                return try begin(request, withFiles(of: request, next.descriptors, &state), &state)
            case .render:
                return .rendered(
                    try render(opened, into: next.descriptors.isEmpty ? state.targets : next.descriptors))
            case .compose(let request):
                RefusedCall.forget()
                ReadFailure.forget()
                let sheet = Sheet(request, writes: state.filters.drawsText)
                return .rendered([try sheet.compose(next.descriptors, cancellation)])
            case .cancel:
                return nil
            }
        } catch is Cancelled {
            return .cancelled
        } catch let failure as WorkerFailure {
            return .failed(explained(failure, state.filters))
        } catch {
            let kind = (error as? SystemError).map { FailureClass(code: $0.code, ofOriginal: true) } ?? .input
            return .failed(
                explained(
                    WorkerFailure(
                        stage: "open", message: "\(error)", advice: "try again: pipectl retry", class: kind),
                    state.filters))
        }
    }

    /// Takes new outputs from the request. Reads the files that the outputs' filters need; the descriptors of these
    /// files are the last in `descriptors`. Returns the other descriptors.
    private func withFiles(
        of request: OpenRequest, _ descriptors: [Descriptor], _ state: inout State
    ) throws -> [Descriptor] {
        guard let outputs = request.outputs else { return descriptors }
        state.outputs = outputs
        let digests = outputs.flatMap(\.stages).fileDigests
        guard descriptors.count > digests.count else {
            throw WorkerFailure(
                stage: "open", message: "\(digests.count) files of filters are to come with the picture")
        }
        var files: [String: [UInt8]] = [:]
        for (digest, file) in zip(digests, descriptors.suffix(digests.count)) {
            files[digest] = try FileSystem.read(file, most: .max, called: "a filter's file")
        }
        FilterHost.take(files)
        return descriptors.dropLast(digests.count)
    }

    /// Opens a picture, and renders it at once if the estimated memory does not exceed the request's grant.
    private func begin(
        _ request: OpenRequest, _ descriptors: [Descriptor], _ state: inout State
    ) throws -> WorkerMessage {
        let count = request.grant == nil ? 0 : state.outputs.count
        let picture = try open(request, state, descriptors.dropLast(count))
        let targets = Array(descriptors.suffix(count))
        guard let grant = request.grant, picture.header.memory <= grant else {
            (state.picture, state.targets) = (picture, targets)
            return .opened(picture.header)
        }
        news.found(picture.header)
        let outputs = try render(picture, into: targets)
        return news.take().map { .made($0, outputs) } ?? .rendered(outputs)
    }

    /// Replaces a failure with its cause if a read failed or a system call was refused. Filters work lazily, so a
    /// refused call may happen long after `apply` has returned.
    private func explained(_ failure: WorkerFailure, _ filters: FilterLibrary) -> WorkerFailure {
        // After a failed read, the decoder's own message is misleading, so report the read failure instead.
        if let unread = ReadFailure.first { return WorkerFailure(reading: unread) }
        var failure = failure
        if failure.stage != WorkerFailure.confinement, let call = RefusedCall.first {
            failure = WorkerFailure(filter: nil, tried: call)
        }
        if failure.stage == WorkerFailure.confinement, !filters.readable.isEmpty,
            let lack = missing.first(where: { $0.hasPrefix(Confinement.landlock) })
        {
            failure.advice =
                "a filter may open its own folder, or fonts, only where Landlock keeps it from all else; here it does "
                + "not: \(lack)"
        }
        return failure
    }

    private func open(
        _ request: OpenRequest, _ state: State, _ descriptors: ArraySlice<Descriptor>
    ) throws -> OpenPicture {
        guard let source = descriptors.first else {
            throw WorkerFailure(stage: "open", message: "the message carried no file")
        }
        try cancellation.check()
        let picture = try OpenPicture(
            request, state.outputs, source, original: descriptors.dropFirst().first, filters: state.filters,
            resizers: state.resizers, decoders: decoders, cancellation: cancellation)
        try cancellation.check()
        return picture
    }

    private func render(_ picture: OpenPicture?, into targets: [Descriptor]) throws -> [RenderedOutput] {
        guard let picture else { throw WorkerFailure(stage: "open", message: "no picture is open") }
        guard targets.count == picture.header.decoderPaths.count else {
            throw WorkerFailure(
                stage: SaveStage.name,
                message: "\(targets.count) files came for \(picture.header.decoderPaths.count) outputs")
        }
        cancellation.progress.begin(
            pixels: picture.pixelsToRead, evaluations: picture.evaluations, encoding: picture.encoding)
        let results = Result { try picture.render(into: targets) }
        try cancellation.check()
        try picture.refuseChange()
        try ReadFailure.check()
        return try results.get()
    }

    /// Runs on the reading thread.
    private func read() -> Never {
        while let (message, descriptors) = received() {
            switch message {
            case .open(let request):
                cancellation.begin()
                if request.grant != nil { news.begin() }
            case .compose:
                cancellation.begin()
            case .cancel:
                cancellation.cancel()
                continue
            case .render: break
            }
            messages.withLock { $0.append(Message(message: message, descriptors: descriptors)) }
            arrived.signal()
        }
        // The supervisor is gone, so nobody waits for a result.
        _exit(0)
    }

    private func received() -> (SupervisorMessage, [Descriptor])? {
        do {
            return try channel.receive(SupervisorMessage.self)
        } catch {
            FileHandle.standardError.write(Data("pipelined-render: a message can't be read: \(error)\n".utf8))
            return nil
        }
    }

    private func send(_ message: WorkerMessage, with descriptors: [Descriptor] = []) {
        // Sending fails only when the supervisor has closed the socket; `read` then ends the process.
        try? channel.send(message, descriptors: descriptors)
    }
}
