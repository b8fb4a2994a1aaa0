import DaemonConfiguration
import DaemonRuntime
import Dispatch
import InboxWatching
import JobFlow
import JobLedger
import JobModel
import PictureFiles
import PipelineControl
import PipelineModel
import SystemCalls
import WorkerPools
import WorkerProtocol

extension ControlService {
    func addExplaining() {
        onPassing(Call.Explain.self) { [self] call, passed, request in
            // Looking up the file may block on a hanging mount.
            request.work(on: FileLanes.looks(at: call.file ?? places.data)) { [self] in
                let there = call.file.flatMap { try? FileSystem.status($0) }
                // A disk error does not prove that the file is missing.
                let mayExist = call.file.map(FileSystem.mayExist) ?? false
                let file = passed.descriptors.first.flatMap { file in
                    (try? file.status()).map(FileStatus.init)?.kind == .file ? file : nil
                }
                Coordination.async { [self] in
                    explain(call, there, mayExist: mayExist, opened: file) { result in
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

@Coordination
extension ControlService {
    /// Maximum time to wait until a worker is free and has read the picture's header.
    private static let patience = Duration.seconds(3)

    /// Explains what the daemon would do with the file at a path. If the client has passed the open file, a worker also
    /// reads its header, which decides the decoder path. `there` is the status of the file at the path.
    fileprivate func explain(
        _ call: Call.Explain, _ there: FileStatus?, mayExist: Bool, opened file: Descriptor?,
        _ done: @escaping @Sendable (Result<Control.Explanation, ControlError>) -> Void
    ) {
        let known: Known
        do throws(ControlError) {
            known = try explain(call, there, mayExist: mayExist || file != nil)
        } catch {
            return done(.failure(error))
        }
        guard let file, let path = call.file, !FileNames.isList(path), !known.pictures.isEmpty else {
            return done(.success(named(known, nil).explanation))
        }
        look(at: file, FileSystem.name(of: path), known) { header in
            Coordination.async { [self] in done(.success(explained(known, header))) }
        }
    }

    private func explained(_ known: Known, _ header: Result<PictureHeader, Unread>) -> Control.Explanation {
        var explanation = named(known, try? header.get()).explanation
        switch header {
        case .success(let header):
            explanation.picture = header.words
            explanation.decode = zip(known.pictures, header.decoderPaths).map {
                Control.Decoding(output: $0.name, path: $1)
            }
        case .failure(let problem):
            explanation.problem = problem.words
            // An unreadable picture passes through no operations.
            if problem.isLasting { (explanation.operations, explanation.names) = ([], []) }
        }
        return explanation
    }

    /// Has a worker read the picture's header, but not its pixels.
    private func look(
        at file: Descriptor, _ name: String, _ known: Known,
        _ done: @escaping @Sendable (Result<PictureHeader, Unread>) -> Void
    ) {
        let task = RenderTask(
            lookingAt: file, name: name,
            outputs: known.pictures.map { RenderOutput($0, wantsDate: known.order.wantsDate) },
            limits: RenderTask.Limits(
                owners.configuration.settings, onTruncated: known.order.onTruncated, raw: known.order.raw)
        ) { result in
            switch result {
            case .success(let header): done(.success(header))
            case .failure(let failure):
                guard let failure = JobFailure(failure, atTry: 1) else {
                    return done(.failure(Unread(words: "all workers are busy; ask again", isLasting: false)))
                }
                done(.failure(Unread(words: failure.message, isLasting: failure.class == .input)))
            }
        }
        let pool = owners.pool
        pool.run(task)
        Coordination.after(Self.patience) { pool.cancel(task) }
    }

    /// Why a picture's header could not be read.
    private struct Unread: Error {
        var words: String
        /// Whether a job with this picture would fail.
        var isLasting: Bool
    }

    private func explain(
        _ call: Call.Explain, _ there: FileStatus?, mayExist: Bool
    ) throws(ControlError) -> Known {
        let isChain = call.chain != nil || call.raw != nil
        let chained = isChain ? try order(recipe: nil, chain: call.chain, raw: call.raw) : nil
        if let chained, call.file == nil {
            return planned(nil, chained, "the chain is right; `pipectl add --chain` runs it", nil)
        }
        guard let file = call.file else { throw .badValue("Explain takes a file or a chain") }
        if let chained { return try explain(file, by: chained, there, mayExist: mayExist) }
        if let inbox = owners.inboxes.all.filter({ FileSystem.lies(file, within: $0.folder) })
            .max(by: { $0.folder.count < $1.folder.count })
        {
            return try explain(file, in: inbox, there, mayExist: mayExist)
        }
        if let ended = try job(ofEnded: file, there) { return linked(ended, "it is the original of") }
        guard mayExist else { throw .noFile(file) }
        if there?.kind == .folder { return untouched("it is a folder, which lies in no inbox; name a file in it") }
        return try explain(outside: file, there)
    }

    /// Explains the results of a chain for a file in any folder.
    private func explain(
        _ file: String, by chain: WorkOrder, _ there: FileStatus?, mayExist: Bool
    ) throws(ControlError) -> Known {
        guard mayExist else { throw .noFile(file) }
        if there?.kind == .folder { return untouched("it is a folder; name a file in it") }
        var known = planned(nil, chain, "the chain is right; `pipectl add FILE --chain` runs it", nil)
        known.named = Named(path: FileSystem.name(of: file), modified: there.map { Int($0.modified) })
        return known
    }

    /// Explains a file in an inbox: the recipe that would claim it, its operations, and the reason why they do not run
    /// now.
    private func explain(
        _ file: String, in inbox: Inbox, _ there: FileStatus?, mayExist: Bool
    ) throws(ControlError) -> Known {
        let (name, path) = (FileSystem.name(of: file), FileSystem.relative(file, to: inbox.folder))
        let record = try ledger.answer { try $0.newest(path: path) { $0.order.inbox == inbox.folder } }
        guard let there else {
            if let record { return linked(record, "it is") }
            guard mayExist else { throw .noFile(file) }
            return untouched("its disk does not say what it is; ask again")
        }
        if let record, record.origin == .kept, record.file.onAnyDevice == there.identity.onAnyDevice {
            return linked(record, "it is")
        }
        let reason = inbox.reason(for: file)
        switch there.kind {
        case .folder: return untouched("it is a folder; the files in it go through '\(inbox.recipe.name)'")
        case .link, .other: return untouched(reason ?? Inbox.reasonForLeaving(there.kind))
        case .file: break
        }
        if FileNames.isPartial(name) {
            return untouched("hidden and partial files are left alone until they are renamed")
        }
        guard inbox.recipe.matches(name) else {
            return untouched(reason ?? FileNames.reasonForIgnoring(name, recipe: inbox.recipe.name))
        }
        let settle = inbox.recipe.intake.settle.text
        var known = planned(
            inbox.recipe, owners.configuration.order(for: inbox.recipe),
            reason ?? inbox.report.whyNothing.map { "its inbox waits: \($0)" }
                ?? "it is settling: it is taken when it has been quiet for \(settle)", nil)
        if inbox.refusal != nil { known.explanation.operations = [] }
        known.named = Named(path: path, modified: Int(there.modified))
        return known
    }

    private func explain(outside file: String, _ there: FileStatus?) throws(ControlError) -> Known {
        let name = FileSystem.name(of: file)
        // A file from `pipectl add` was copied, so the ledger has only its name and size.
        let added = try ledger.answer { try $0.newest(path: name) { $0.origin == .spooled && $0.url == nil } }
        if let record = added, let there, Int64(record.file.size) == there.size {
            return linked(record, "a file of this name and size is")
        }
        let recipe = current.configuration.defaultRecipe
        guard recipe.matches(name) else {
            return untouched("it lies in no inbox; " + FileNames.reasonForIgnoring(name, recipe: recipe.name))
        }
        let why =
            "it lies in no inbox; dropped into \(places.inbox), or given to `pipectl add`, it goes through "
            + "'\(recipe.name)'"
        var known = planned(recipe, owners.configuration.order(for: recipe), why, nil)
        known.named = Named(path: name, modified: there.map { Int($0.modified) })
        return known
    }

    /// The ended job whose original, or whose error text, is at this path in `failed/`, `archive/` or `cancelled/`.
    private func job(ofEnded file: String, _ there: FileStatus?) throws(ControlError) -> JobRecord? {
        let text = ".error.txt"
        let original = file.hasSuffix(text) ? String(file.dropLast(text.count)) : file
        guard
            let place = [places.failed, places.archive, places.cancelled].first(where: {
                FileSystem.lies(file, within: $0)
            })
        else { return nil }
        let path = FileSystem.relative(original, to: place).split(separator: "/").dropFirst().joined(separator: "/")
        let places = places
        for path in [path, ResultName.unnumbered(path)] {
            let record = try ledger.answer { ledger in
                try ledger.newest(path: path) {
                    // The ledger records a move only afterwards, so `source` may be outdated. Compare the inode, too.
                    $0.source == original || $0.file.inode == there?.identity.inode
                        || $0.needsDownload && Disposal.absentPath($0, places) == original
                }
            }
            if let record { return record }
        }
        return nil
    }

    // MARK: - The explanation

    private struct Known {
        var explanation: Control.Explanation
        var order: WorkOrder
        /// The pictures that the first render operation makes.
        var pictures: [PlannedPicture]
        /// Nil if no result names can be shown.
        var named: Named?
    }

    /// The facts that result names are made from.
    private struct Named {
        var path: String
        var modified: Int?
        var batch: Int?
    }

    /// Adds the names of the results. The date in a name is known only with the header.
    private func named(_ known: Known, _ header: PictureHeader?) -> Known {
        guard let named = known.named else { return known }
        var known = known
        let plan = Planner.plan(outputs: known.order.outputs, inBatch: false)
        let names = JobNames(known.order, path: named.path, batch: named.batch, plan, ledger)
        do {
            var facts = try names.facts(ImageHandle(source: "", modified: named.modified, header: header))
            if header == nil { facts.date = nil }
            known.explanation.names = try names.expected(facts).map {
                Control.ResultName(output: $0.output, name: $0.path)
            }
            known.explanation.date = facts.date?.words
        } catch {
            let advice = (error as? JobFailure)?.advice.map { "; \($0)" } ?? ""
            known.explanation.why = "it would fail: \(error)\(advice)"
            known.explanation.operations = []
        }
        return known
    }

    /// Explains a file that belongs to a job; shows the plan unless the job has ended.
    private func linked(_ record: JobRecord, _ what: String) -> Known {
        var known = planned(
            current.recipe(record.order.recipe), record.order,
            "\(what) job \(record.id), which is \(shown(record).state)" + (record.error.map { ": \($0)" } ?? ""),
            shown(record))
        if record.state.isFinal {
            known.explanation.operations = []
        } else {
            known.named = Named(path: record.path, modified: record.file.modified, batch: record.batch)
        }
        return known
    }

    /// Explains why the daemon does nothing with the file.
    private func untouched(_ why: String) -> Known {
        let order = current.order(for: current.configuration.defaultRecipe, places)
        let explanation = Control.Explanation(recipe: nil, why: why, chains: [:], operations: [], job: nil)
        return Known(explanation: explanation, order: order, pictures: [])
    }

    private func planned(
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

extension ControlError {
    fileprivate static func noFile(_ path: String) -> ControlError {
        .refused(
            "there is no file \(path), as far as you and the daemon may look, and no job is known that was made of one")
    }
}
