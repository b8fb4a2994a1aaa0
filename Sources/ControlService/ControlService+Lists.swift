import DaemonRuntime
import JobFlow
import JobLedger
import JobModel
import PictureFiles
package import PipelineControl
import PipelineModel
package import SystemCalls
import WorkerPools

extension ControlService {
    /// Adds the URLs of the list in `file`. Calls `done` with the reply, or answers the request with an error.
    package func add(
        _ call: Call.AddList, _ file: Descriptor, answering request: ControlRequest,
        done: @escaping @Sendable (Call.AddList.Reply) -> Void
    ) {
        Coordination.async { [self] in
            do throws(ControlError) {
                try add(call, file, for: request) { result in
                    switch result {
                    case .success(let reply): done(reply)
                    case .failure(let error): request.fail(error)
                    }
                }
            } catch {
                request.fail(error)
            }
        }
    }

    /// Writes URLs to a list file in memory. Each URL is checked first, so that none can be read as a comment or as two
    /// lines.
    package static func list(of call: Call.AddUrls) throws -> (Call.AddList, Descriptor) {
        for url in call.urls {
            do throws(Refusal) {
                _ = try WebAddress(url)
            } catch {
                throw ControlError.badValue(
                    "'\(String(WebAddress.shown(url).prefix(200)).printable)' \(error.sentence)")
            }
        }
        let list = Call.AddList(
            name: nil, recipe: call.recipe, chain: call.chain, batch: call.batch, after: call.after,
            anyway: call.anyway, priority: call.priority, raw: call.raw)
        return (list, try Descriptor.memory(Array(call.urls.joined(separator: "\n").utf8)))
    }
}

@Coordination
extension ControlService {
    /// Adds the list that a client has passed. Calls `done` once its jobs are in the ledger, with the IDs of the first
    /// and the last job.
    package func add(
        _ call: Call.AddList, _ file: Descriptor, for request: ControlRequest,
        done: @escaping @Sendable (Result<Call.AddList.Reply, ControlError>) -> Void
    ) throws(ControlError) {
        let (order, wished) = try adding(call.recipe, call.chain, call.raw, call.batch, call.after, call.priority)
        write(for: request)
        let after = call.after ?? []
        request.work(on: FileLanes.copies(of: file)) { [self] in
            let reading = owners.intake.reading(file, called: call.name ?? "")
            Coordination.async { [self] in
                switch reading {
                case .failure(let failure):
                    done(.failure(.badValue(failure.message + (failure.advice.map { "; \($0)" } ?? ""))))
                case .success(let list):
                    let listed = owners.intake.jobs(of: list, called: call.name, order, in: call.batch, wished)
                    Log.notice(
                        "add of \(listed.count) URLs to '\(order.recipe)' asked for by \(request.connection.peer)",
                        of: LogSubject(batch: listed.batch.id, recipe: order.recipe))
                    let reply = Call.AddList.Reply(
                        batch: listed.batch.id, first: listed.id, last: listed.id + listed.count - 1)
                    guard after.isEmpty else {
                        let records = (0..<listed.count).map { index in
                            var record = listed.record(index)
                            record.anyway = call.anyway ?? false
                            return record
                        }
                        return owners.intake.enter(records, batches: [listed.batch], after: after) { [self] answer in
                            done(error(answer, of: reply.first).map(Result.failure) ?? .success(reply))
                        }
                    }
                    owners.intake.enter([], listed, batches: [listed.batch], isAsked: true) {
                        done(.success(reply))
                    } refused: {
                        done(.failure(.refused("the ledger refuses the list; see the daemon's log")))
                    }
                }
            }
        }
    }
}
