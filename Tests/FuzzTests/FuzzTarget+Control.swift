import ServiceProgram

@testable import ControlService
@testable import PipelineControl

/// Messages from clients to the daemon, and the daemon's replies.
extension FuzzTarget {
    static let control: [FuzzTarget] = [frames, calls, answers, moments]

    /// The first byte of the input sets the length of the pieces in which the socket delivers all other bytes.
    private static let frames = FuzzTarget("frames") { bytes in
        guard let length = bytes.first.map({ Int($0) + 1 }) else { return }
        let stream = bytes.dropFirst()
        var (buffer, found) = (FrameBuffer(), [[UInt8]]())
        for start in stride(from: stream.startIndex, to: stream.endIndex, by: length) {
            buffer.append(Array(stream[start..<min(start + length, stream.endIndex)]))
            while let frame = buffer.next() { found.append(Array(frame)) }
        }
        let whole = stream.split(separator: Wire.terminator, omittingEmptySubsequences: false).dropLast().map(
            Array.init)
        precondition(found == whole, "the pieces change the frames")
        precondition(buffer.taken + buffer.count == stream.count, "bytes are lost")
    }

    private static let calls = FuzzTarget("calls", words: allCalls.map { $0.method }) { bytes in
        let head = try Wire.decode(WireCallHead.self, bytes)
        for call in allCalls where call.method == head.method { try readCall(call, bytes) }
    }

    private static func readCall<Call: ControlCall>(_: Call.Type, _ frame: [UInt8]) throws {
        func sent(_ frame: [UInt8]) throws -> [UInt8] {
            let call = try ControlRequest.parameters(Call.self, in: frame)
            return try Wire.encode(WireCall(method: Call.method, parameters: call))
        }
        let (first, second) = (try sent(frame), try sent(sent(frame)))
        precondition(first == second, "a call changes on its way")
    }

    /// The first byte of the input selects the call whose reply is read.
    private static let answers = FuzzTarget("answers") { bytes in
        guard let first = bytes.first else { return }
        let call: any ControlCall.Type = allCalls[Int(first) % allCalls.count]
        try readAnswer(call, Array(bytes.dropFirst()))
    }

    private static func readAnswer<Call: ControlCall>(_: Call.Type, _ frame: [UInt8]) throws {
        func sent(_ frame: [UInt8]) throws -> [UInt8] {
            let answer = try Wire.decode(WireAnswer<Call.Reply>.self, frame)
            return try Wire.encode(WireReply(parameters: answer.parameters, continues: answer.continues))
        }
        let (first, second) = (try sent(frame), try sent(sent(frame)))
        precondition(first == second, "an answer changes on its way")
        guard let metrics = try? Wire.decode(WireAnswer<PipelineControl.Call.Metrics.Reply>.self, frame) else { return }
        for format in [MetricsFormat.prometheus, .openMetrics] { _ = metrics.parameters.metrics.text(format) }
    }

    private static let allCalls: [any ControlCall.Type] = [
        Call.Status.self, Call.Metrics.self, Call.WhyWaiting.self, Call.ListIgnored.self, Call.List.self,
        Call.ListIDs.self, Call.Batches.self, Call.FindBatch.self, Call.Show.self, Call.Open.self, Call.Log.self,
        Call.Explain.self, Call.Try.self, Call.Add.self, Call.NewFile.self, Call.Sift.self, Call.AddList.self,
        Call.AddUrls.self, Call.NewBatch.self, Call.CloseBatch.self, Call.Wait.self, Call.Watch.self,
        Call.Progress.self, Call.Cancel.self, Call.CancelAll.self, Call.CancelMatching.self, Call.Depend.self,
        Call.Prioritise.self, Call.Retry.self, Call.Clean.self, Call.Forget.self, Call.Redo.self, Call.Undo.self,
        Call.Pause.self, Call.Resume.self, Call.Concurrency.self, Call.Drain.self, Call.Command.self,
        Call.Recipes.self, Call.Plugins.self, Call.Settings.self, Call.Reload.self, Call.GetInfo.self,
        Call.GetInterfaceDescription.self,
    ]

    /// Times in the notations that clients use.
    private static let moments = text("moments") { text in
        guard let seconds = Timestamp.seconds(text, now: 1_772_357_400) else { return }
        precondition(text.utf8.allSatisfy { $0 < 128 }, "only ASCII digits are read")
        _ = Timestamp.text(seconds)
    }
}
