import DaemonInterface
import Dispatch
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

/// Calls that create batches, list them, and find a batch by its number or name.
extension ControlService {
    func addBatchCalls() {
        onOwners(Call.NewBatch.self) { [self] call, request in
            if let name = call.name, name.isEmpty || name.utf8.count > 255 {
                throw ControlError.badValue("a batch's name has 1 to 255 bytes; this one has \(name.utf8.count)")
            }
            write(for: request)
            let batch = daemon.openBatch(named: call.name) { request.reply(Call.NewBatch.Reply(batch: $0)) }
            // A disconnected client adds no more jobs, so close its batch.
            request.connection.whenClosed { [daemon] in daemon.closeBatch(batch, done: nil) }
        }
        onOwners(Call.CloseBatch.self) { [self] call, request in
            guard daemon.knows(batch: call.batch) else {
                throw ControlError.badValue("there is no batch \(call.batch); NewBatch opens one")
            }
            write(for: request)
            daemon.closeBatch(call.batch) { request.reply(Call.CloseBatch.Reply()) }
        }
        on(Call.Batches.self) { [self] call, request in try batches(call, request) }
        onOwners(Call.FindBatch.self) { [self] call, request in
            if let number = Int(call.batch), daemon.knows(batch: number) { return find(call, request) }
            daemon.expectBatch(ofFolder: call.batch) { [self] in
                request.connection.queue.async { [self] in find(call, request) }
            }
        }
    }

    private func find(_ call: Call.FindBatch, _ request: ControlRequest) {
        do throws(ControlError) {
            guard let (batch, others) = try answer({ try daemon.findBatch(call.batch) }) else {
                throw try noSuchBatch(call.batch)
            }
            request.reply(Call.FindBatch.Reply(batch: batch.shown, others: others))
        } catch {
            request.fail(error)
        }
    }

    /// Maximum number of batches in a single reply, and in each reply of a stream.
    private static let (longPage, page) = (500, 100)

    private func batches(_ call: Call.Batches, _ request: ControlRequest) throws(ControlError) {
        if let limit = call.limit, limit < 1 { throw .badValue("limit=\(limit) is not allowed; it begins at 1") }
        let page = request.more ? Self.page : Self.longPage
        let next = { @Sendable [self] (last: inout Int) throws(ControlError) -> ([Control.Batch], isLast: Bool) in
            let records = try answer {
                try daemon.batches(named: call.name, newest: call.limit, after: last, limit: page + 1)
            }
            let some = records.prefix(page)
            last = some.last?.id ?? last
            return (some.map(\.shown), records.count <= page)
        }
        var last = 0
        guard request.more else {
            let (batches, isLast) = try next(&last)
            let all = try answer {
                try call.limit == nil
                    ? [] : daemon.batches(named: call.name, newest: nil, after: 0, limit: batches.count + 1)
            }
            let isPart = !isLast || all.count > batches.count
            return request.reply(Call.Batches.Reply(batches: batches, isPart: isPart))
        }
        request.connection.follow(last) { last in
            do throws(ControlError) {
                let (batches, isLast) = try next(&last)
                let frame = ControlRequest.frame(Call.Batches.Reply(batches: batches), continues: !isLast)
                return isLast ? .last(frame) : .frame(frame)
            } catch {
                return .last(ControlRequest.frame(error))
            }
        }
    }

    /// Maximum number of batch names to compare with a misspelled name.
    private static let mostNames = 1000

    private func noSuchBatch(_ word: String) throws(ControlError) -> ControlError {
        // An unknown number gets no suggestion of similar names.
        let names = try Int(word) == nil ? answer { try daemon.batchNames(limit: Self.mostNames) } : []
        let hint = didYouMean(word, among: names)
        return .badValue("there is no batch '\(word.prefix(200))'\(hint); `pipectl batches` lists them".printable)
    }
}
