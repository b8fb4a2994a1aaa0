import Dispatch
import PipelineControl
import PipelineModel
import SystemCalls
import WorkerProtocol

extension ControlService {
    func addExplaining() {
        onPassing(Call.Explain.self) { [supervisor] call, passed, request in
            // A file is looked for where a mount may hang.
            supervisor.files.async {
                let isPresent = call.file.map(FileSystem.mayExist) ?? false
                let file = passed.descriptors.first.flatMap { file in
                    (try? file.status()).map(FileStatus.init)?.kind == .file ? file : nil
                }
                supervisor.queue.async {
                    supervisor.explain(call, isPresent: isPresent, opened: file) { result in
                        switch result {
                        case .success(let explanation): request.reply(Call.Explain.Reply(explanation: explanation))
                        case .failure(let error): request.fail(error)
                        }
                    }
                }
            }
        }
    }
}

extension Supervisor {
    /// A picture is looked at by the next worker that is free; nobody waits longer than that for an explanation.
    private static let patience = Duration.seconds(3)

    /// What is known without the picture, and how it would be read, if the caller has opened it.
    fileprivate func explain(
        _ call: Call.Explain, isPresent: Bool, opened file: Descriptor?,
        _ done: @escaping @Sendable (Result<Control.Explanation, ControlError>) -> Void
    ) {
        let known: Known
        do throws(ControlError) {
            known = try explain(call, isPresent: isPresent)
        } catch {
            return done(.failure(error))
        }
        guard let file, let path = call.file, !FileNames.isList(path), !known.pictures.isEmpty else {
            return done(.success(known.explanation))
        }
        look(at: file, FileSystem.name(of: path), known) { header in
            var explanation = known.explanation
            switch header {
            case .success(let header):
                explanation.picture = header.words
                explanation.decode = zip(known.pictures, header.decoderPaths).map {
                    Control.Decoding(output: $0.name, path: $1)
                }
            case .failure(let problem):
                explanation.problem = problem.words
            }
            done(.success(explanation))
        }
    }

    /// Has a worker read a picture's header, and no more.
    private func look(
        at file: Descriptor, _ name: String, _ known: Known,
        _ done: @escaping @Sendable (Result<PictureHeader, Unread>) -> Void
    ) {
        let task = RenderTask(
            lookingAt: file, name: name,
            outputs: known.pictures.map { RenderOutput(name: $0.name, stages: $0.stages) },
            limits: RenderTask.Limits(settings, onTruncated: known.order.onTruncated)
        ) { result in
            switch result {
            case .success(let header): done(.success(header))
            case .failure(.cancelled): done(.failure(Unread(words: "all workers are busy; ask again")))
            case .failure(let failure):
                done(.failure(Unread(words: JobFailure(failure, atTry: 1)?.message ?? "it can't be read")))
            }
        }
        pool.run(task)
        queue.asyncAfter(deadline: .now() + Self.patience.dispatch) { [pool] in pool.cancel(task) }
    }

    /// Why a picture's header is not known.
    private struct Unread: Error { var words: String }

    private struct Known {
        var explanation: Control.Explanation
        var order: WorkOrder
        /// What is made of the picture as it came in.
        var pictures: [PlannedPicture]
    }

    /// Which recipe would take a file, what would be done, and why it is not being done.
    private func explain(
        _ call: Call.Explain, isPresent present: Bool
    ) throws(ControlError) -> Known {
        if let text = call.chain {
            let order = current.order(for: try parse(text), places)
            return explanation(nil, order, "the chain is right; `pipectl add --chain` runs it", nil)
        }
        guard let file = call.file else { throw .badValue("Explain takes a file or a chain") }
        let name = FileSystem.name(of: file)
        if let inbox = inboxes.filter({ FileSystem.lies(file, within: $0.folder) })
            .max(by: { $0.folder.count < $1.folder.count })
        {
            let path = FileSystem.relative(file, to: inbox.folder)
            let order = current.order(for: inbox.recipe, places)
            let record = try ledger.answer { try $0.newest(path: path) }
            if FileNames.isPartial(name) {
                return explanation(nil, order, "hidden and partial files are left alone until they are renamed", nil)
            }
            if !inbox.recipe.matches(name) {
                let byName = FileNames.reasonForIgnoring(name, recipe: inbox.recipe.name)
                return explanation(nil, order, inbox.reason(for: file) ?? byName, nil)
            }
            if let reason = inbox.reason(for: file) { return explanation(inbox.recipe, order, reason, nil) }
            let why =
                if let problem = inbox.report.whyNothing { "its inbox waits: \(problem)" } else if present {
                    "it is settling: it is taken when it has been quiet for \(inbox.recipe.intake.settle.text)"
                } else if let record { "it is job \(record.id), which is \(shown(record).state)" } else {
                    "it would be taken when it is put there"
                }
            return explanation(inbox.recipe, order, why, present ? nil : record.map(shown))
        }
        if let record = try ledger.answer({ try $0.newest(path: name) }) {
            return explanation(
                current.recipe(record.order.recipe), record.order,
                "it is job \(record.id), which is \(shown(record).state)" + (record.error.map { ": \($0)" } ?? ""),
                shown(record))
        }
        let recipe = current.configuration.defaultRecipe
        let why =
            recipe.matches(name)
            ? "it lies in no inbox; dropped into \(places.inbox), or given to `pipectl add`, it goes through '\(recipe.name)'"
            : "it lies in no inbox; " + FileNames.reasonForIgnoring(name, recipe: recipe.name)
        return explanation(recipe, current.order(for: recipe, places), why, nil)
    }

    private func explanation(
        _ recipe: Recipe?, _ order: WorkOrder, _ why: String, _ job: Control.Job?
    ) -> Known {
        let plan = Planner.plan(outputs: order.outputs, inBatch: job.map { $0.batch != nil } ?? true)
        let explanation = Control.Explanation(
            recipe: recipe?.name, why: why, chains: order.chains,
            operations: plan.operations.map {
                Control.PlannedOperation(kind: $0.kind, queue: $0.queue, does: $0.does(current.catalog))
            }, job: job)
        return Known(explanation: explanation, order: order, pictures: plan.segments.first ?? [])
    }
}
