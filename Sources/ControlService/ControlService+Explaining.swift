import DaemonInterface
import DaemonRuntime
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

extension ControlService {
    func addExplaining() {
        onPassing(Call.Explain.self) { [self] call, passed, request in
            // Looking up the file may block on a hanging mount.
            request.work(on: FileLanes.looks(at: call.file ?? daemon.ownFolders.data)) { [self] in
                let there = call.file.flatMap { try? FileSystem.status($0) }
                // A disk error does not prove that the file is missing.
                let mayExist = call.file.map(FileSystem.mayExist) ?? false
                let file = passed.descriptors.first.flatMap { file in
                    (try? file.status()).map(FileStatus.init)?.kind == .file ? file : nil
                }
                Coordination.async { [self] in
                    do throws(ControlError) {
                        let isChain = call.chain != nil || call.raw != nil
                        let chain = isChain ? try order(recipe: nil, chain: call.chain, raw: call.raw) : nil
                        guard chain != nil || call.file != nil else {
                            throw .badValue("Explain takes a file or a chain")
                        }
                        explain(
                            ExplainQuestion(
                                file: call.file, chain: chain, status: there, mayExist: mayExist || file != nil,
                                opened: file), request)
                    } catch {
                        request.fail(error)
                    }
                }
            }
        }
    }

    @Coordination
    private func explain(_ question: ExplainQuestion, _ request: ControlRequest) {
        daemon.explain(question) { [self] result in
            switch result {
            case .success(let explanation): request.reply(Call.Explain.Reply(explanation: shown(explanation)))
            case .failure(.unread(let error)): request.fail(ControlError.unread(error))
            case .failure(.noFile(let path)):
                request.fail(
                    ControlError.refused(
                        "there is no file \(path), as far as you and the daemon may look, and no known job was "
                            + "made of one"))
            }
        }
    }

    private func shown(_ explanation: ExplainAnswer) -> Control.Explanation {
        Control.Explanation(
            recipe: explanation.recipe, why: explanation.why, chains: explanation.order?.chains ?? [:],
            operations: explanation.operations.map {
                Control.PlannedOperation(kind: $0.kind, queue: $0.queue, does: $0.does(daemon.catalog))
            }, job: explanation.job.map(shown), picture: explanation.picture,
            decode: explanation.decode.map {
                Control.Decoding(output: $0.output, path: $0.path, unwanted: $0.unwanted)
            },
            problem: explanation.problem,
            names: explanation.names.map { Control.ResultName(output: $0.output, name: $0.name) },
            date: explanation.date)
    }
}
