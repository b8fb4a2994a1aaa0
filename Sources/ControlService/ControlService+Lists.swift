import DaemonInterface
import DaemonRuntime
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

extension ControlService {
    /// Adds the URLs of the list in `file`. Calls `done` with the reply, or answers the request with an error.
    func add(
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

    /// Checks URLs, and writes them to a list file in memory. A URL that passes the check can't be read as a comment or
    /// as two lines.
    static func list(of call: Call.AddUrls) throws -> (Call.AddList, Descriptor) {
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
    /// Adds the list that a client has passed. Once the list's jobs are in the ledger, calls `done` with the IDs of the
    /// first and the last job.
    func add(
        _ call: Call.AddList, _ file: Descriptor, for request: ControlRequest,
        done: @escaping @Sendable (Result<Call.AddList.Reply, ControlError>) -> Void
    ) throws(ControlError) {
        let terms = try terms(call, of: request)
        write(for: request)
        request.work(on: FileLanes.copies(of: file)) { [self] in
            daemon.add(list: file, named: call.name, terms) { [self] result in
                done(
                    result.map { Call.AddList.Reply(batch: $0.batch, first: $0.first, last: $0.last) }
                        .mapError(said))
            }
        }
    }
}
