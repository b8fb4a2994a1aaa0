import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import InboxWatching
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

extension Owners {
    /// Maximum time to wait until a worker is free and has read the picture's header.
    private static let patience = Duration.seconds(3)

    package func explain(_ question: ExplainQuestion, done: @escaping Done<Result<ExplainAnswer, ExplainFailure>>) {
        let known: Known
        do throws(ExplainFailure) { known = try explain(question) } catch { return done(.failure(error)) }
        guard let file = question.opened, let path = question.file, let order = known.explanation.order,
            !FileNames.isList(path), !known.pictures.isEmpty
        else { return done(.success(named(known, nil))) }
        look(at: file, FileSystem.name(of: path), known.pictures, order) { header in
            Coordination.async { [self] in done(.success(explained(known, header))) }
        }
    }

    private func explained(_ known: Known, _ header: Result<PictureHeader, HeaderFailure>) -> ExplainAnswer {
        var explanation = named(known, try? header.get())
        switch header {
        case .success(let header):
            explanation.picture = header.words
            let words = zip(header.decoderPaths, header.gainMapPlans).map { path, plan in
                plan.isEmpty ? path : "\(path); \(plan)"
            }
            explanation.decode = zip(known.pictures, words).map { picture, path in
                (output: picture.name, path: path, unwanted: obstacle(to: picture, header, known))
            }
            let unwanted = explanation.decode.filter { $0.unwanted != nil }.map(\.output)
            explanation.names.removeAll { unwanted.contains($0.output) }
        case .failure(let problem):
            explanation.problem = problem.words
            // An unreadable picture passes through no operations.
            if problem.isLasting { (explanation.operations, explanation.names) = ([], []) }
        }
        return explanation
    }

    /// Makes a worker read the picture's header, but not its pixels.
    private func look(
        at file: Descriptor, _ name: String, _ pictures: [PlannedPicture], _ order: WorkOrder,
        _ done: @escaping @Sendable (Result<PictureHeader, HeaderFailure>) -> Void
    ) {
        let task = RenderTask(
            lookingAt: file,
            for: .init(
                name: name,
                outputs: pictures.map {
                    RenderOutput($0, wantsDate: order.wantsDate, wantsFacts: $0.condition != nil)
                }),
            limits: RenderTask.Limits(configuration.settings, onTruncated: order.onTruncated, raw: order.raw)
        ) { result in
            switch result {
            case .success(let header): done(.success(header))
            case .failure(let failure):
                guard let failure = JobFailure(failure, atTry: 1) else {
                    return done(.failure(HeaderFailure(words: "all workers are busy; ask again", isLasting: false)))
                }
                done(.failure(HeaderFailure(words: failure.message, isLasting: failure.class == .input)))
            }
        }
        pool.run(task)
        Coordination.after(Self.patience) { [pool] in pool.cancel(task) }
    }

    /// The reason why a picture's header could not be read.
    private struct HeaderFailure: Error {
        var words: String
        /// Whether a job with this picture would fail.
        var isLasting: Bool
    }

    private func explain(_ question: ExplainQuestion) throws(ExplainFailure) -> Known {
        guard let file = question.file else {
            return planned(nil, question.chain, "the chain is right; `pipectl add --chain` runs it")
        }
        if let chain = question.chain { return try explain(file, by: chain, question) }
        if let inbox = inboxes.all.filter({ FileSystem.lies(file, within: $0.folder) })
            .max(by: { $0.folder.count < $1.folder.count })
        {
            return try explain(file, in: inbox, question)
        }
        if let ended = try job(ofEnded: file, question.status) { return linked(ended, "it is the original of") }
        guard question.mayExist else { throw .noFile(file) }
        if question.status?.kind == .folder {
            return untouched("it is a folder outside every inbox; name a file in it")
        }
        return try explain(outside: file, question.status)
    }

    /// Explains the results of a chain for a file in any folder.
    private func explain(_ file: String, by chain: WorkOrder, _ question: ExplainQuestion) throws(ExplainFailure)
        -> Known
    {
        guard question.mayExist else { throw .noFile(file) }
        if question.status?.kind == .folder { return untouched("it is a folder; name a file in it") }
        var known = planned(nil, chain, "the chain is right; `pipectl add FILE --chain` runs it")
        known.named = Named(path: FileSystem.name(of: file), modified: question.status.map { Int($0.modified) })
        return known
    }

    /// Explains which recipe would claim a file in an inbox, which operations would run, and why they do not run now.
    private func explain(_ file: String, in inbox: Inbox, _ question: ExplainQuestion) throws(ExplainFailure) -> Known {
        let (name, path) = (FileSystem.name(of: file), FileSystem.relative(file, to: inbox.folder))
        let record = try newest(path) { $0.order.inbox == inbox.folder }
        guard let there = question.status else {
            if let record { return linked(record, "it is") }
            guard question.mayExist else { throw .noFile(file) }
            return untouched("its status can't be read; ask again")
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
            inbox.recipe, order(for: inbox.recipe),
            reason ?? inbox.report.whyNothing.map { "its inbox waits: \($0)" }
                ?? "it is settling: it is taken when it has been quiet for \(settle)")
        if inbox.refusal != nil { known.explanation.operations = [] }
        known.named = Named(path: path, modified: Int(there.modified))
        return known
    }

    private func explain(outside file: String, _ there: FileStatus?) throws(ExplainFailure) -> Known {
        let name = FileSystem.name(of: file)
        // `pipectl add` copies a file, so the ledger knows only the name and the size of the file that the user added.
        let added = try newest(name) { $0.origin == .spooled && $0.url == nil }
        if let record = added, let there, Int64(record.file.size) == there.size {
            return linked(record, "a file of this name and size is")
        }
        let recipe = configurationInForce.defaultRecipe
        guard recipe.matches(name) else {
            return untouched("it lies in no inbox; " + FileNames.reasonForIgnoring(name, recipe: recipe.name))
        }
        let why =
            "it lies in no inbox; dropped into \(configuration.places.inbox), or given to `pipectl add`, it goes "
            + "through '\(recipe.name)'"
        var known = planned(recipe, order(for: recipe), why)
        known.named = Named(path: name, modified: there.map { Int($0.modified) })
        return known
    }

    private func newest(_ path: String, where wanted: (JobRecord) -> Bool) throws(ExplainFailure) -> JobRecord? {
        do { return try ledger.newest(path: path, where: wanted) } catch { throw .unread(error) }
    }

    /// Returns the ended job whose original, or whose error text, is at this path in `failed/`, `archive/` or
    /// `cancelled/`.
    private func job(ofEnded file: String, _ there: FileStatus?) throws(ExplainFailure) -> JobRecord? {
        let text = ".error.txt"
        let places = configuration.places
        let original = file.hasSuffix(text) ? String(file.dropLast(text.count)) : file
        guard
            let place = [places.failed, places.archive, places.cancelled].first(where: {
                FileSystem.lies(file, within: $0)
            })
        else { return nil }
        let path = FileSystem.relative(original, to: place).split(separator: "/").dropFirst().joined(separator: "/")
        for path in [path, ResultName.unnumbered(path)] {
            let record = try newest(path) {
                // The ledger records a move after the file has moved, so `source` may be outdated. For this reason, the
                // inode is compared as well.
                $0.source == original || $0.file.inode == there?.identity.inode
                    || $0.needsDownload && Disposal.absentPath($0, places) == original
            }
            if let record { return record }
        }
        return nil
    }

    // MARK: - The explanation

    private struct Known {
        var explanation: ExplainAnswer
        /// The pictures that the first render operation makes.
        var pictures: [PlannedPicture] = []
        /// Nil if no result names can be shown.
        var named: Named?
    }

    /// The facts that determine the names of results.
    private struct Named {
        var path: String
        var modified: Int?
        var batch: Int?
    }

    /// Returns the reason why the file does not meet the picture's condition; nil if it does.
    private func obstacle(to picture: PlannedPicture, _ header: PictureHeader, _ known: Known) -> String? {
        guard let condition = picture.condition, let facts = header.facts, let order = known.explanation.order,
            let place = try? known.named.map({ try names($0, order).place(ImageHandle(source: "")) })
        else { return nil }
        let verdict = condition.verdict(facts, place)
        return verdict.isMet ? nil : verdict.words.printable
    }

    private func names(_ named: Named, _ order: WorkOrder) -> JobNames {
        JobNames(
            order, path: named.path, batch: named.batch, Planner.plan(outputs: order.outputs, inBatch: false), ledger)
    }

    /// Adds the names of the results. Without the header, the date in a name is unknown.
    private func named(_ known: Known, _ header: PictureHeader?) -> ExplainAnswer {
        var explanation = known.explanation
        guard let named = known.named, let order = explanation.order else { return explanation }
        let names = names(named, order)
        do {
            var facts = try names.facts(ImageHandle(source: "", modified: named.modified, header: header))
            if header == nil { facts.date = nil }
            explanation.names = try names.expected(facts).map { ($0.output, $0.path) }
            explanation.date = facts.date?.words
        } catch {
            let advice = (error as? JobFailure)?.advice.map { "; \($0)" } ?? ""
            explanation.why = "it would fail: \(error)\(advice)"
            explanation.operations = []
        }
        return explanation
    }

    /// Explains a file that belongs to a job. Shows the plan unless the job has ended.
    private func linked(_ record: JobRecord, _ what: String) -> Known {
        var known = planned(
            configurationInForce.recipe(record.order.recipe), record.order,
            "\(what) job \(record.id), which is \(standing(of: record).state.rawValue)"
                + (record.error.map { ": \($0)" } ?? ""), record)
        if record.state.isFinal {
            known.explanation.operations = []
        } else {
            known.named = Named(path: record.path, modified: record.file.modified, batch: record.batch)
        }
        return known
    }

    /// Explains why the daemon does nothing with the file.
    private func untouched(_ why: String) -> Known { Known(explanation: ExplainAnswer(why: why)) }

    private func planned(_ recipe: Recipe?, _ order: WorkOrder?, _ why: String, _ job: JobRecord? = nil) -> Known {
        var known = Known(explanation: ExplainAnswer(recipe: recipe?.name, why: why, order: order))
        guard let order else { return known }
        let plan = Planner.plan(outputs: order.outputs, inBatch: job.map { $0.batch != nil } ?? true)
        (known.explanation.operations, known.explanation.job) = (plan.operations, job)
        known.pictures = plan.segments.first ?? []
        return known
    }
}
