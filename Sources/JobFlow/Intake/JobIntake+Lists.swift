import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import Dispatch
import Glibc
package import InboxWatching
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
package import SystemCalls
import WorkerPools

/// Turns lists of URLs into batches, with a job for each URL. All jobs of a list are entered together, so that a crash
/// leaves all of them or none.
extension JobIntake {
    /// The parsed list, or the reason why it can't be read.
    private typealias Reading = Result<AddressList, JobFailure>

    /// Enters files from an inbox. `lists` are lists of URLs, and `others` are pictures. Each list itself also becomes
    /// a job, which is recorded as ended immediately. The daemon therefore disposes of the list like any other
    /// original.
    ///
    /// Runs on the inbox's queue, because the inbox's disk may hang.
    package nonisolated func accept(
        _ lists: [Claim], and others: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        let read = lists.map { (claim: $0, list: reading($0, in: inbox)) }
        Coordination.async { [self] in
            let group = DispatchGroup()
            var others = others
            for (claim, list) in read {
                if inbox.cancels(claimed: claim.path) {
                    others.append(claim.asCancelled)
                    continue
                }
                group.enter()
                enter(claim, list, from: inbox) { group.leave() }
            }
            if others.isEmpty {
                counted()
            } else {
                group.enter()
                accept(others, from: inbox, counted: counted) { group.leave() }
            }
            Coordination.notify(group, done)
        }
    }

    private func enter(_ claim: Claim, _ reading: Reading, from inbox: Inbox, done: @escaping @Sendable () -> Void) {
        let order = configuration.order(for: inbox.recipe)
        var file = newRecord(
            order: order, path: claim.path, source: claim.source, origin: claim.origin,
            file: claim.file, state: .done,
            at: Timestamp.now())
        switch reading {
        case .success(let list):
            let listed = jobs(of: list, called: claim.path, order)
            let wrong = listed.wrong
            let mistake = "\(wrong == 1 ? "is" : "are") \(list.isTable ? "wrong" : "no URL")"
            file.reason =
                "a list of \((listed.count - wrong).counted("URL")), batch \(listed.batch.id)"
                + (wrong == 0 ? "" : "; \(wrong.counted("line")) \(mistake)")
            enter([file], listed, batches: [listed.batch], done: done)
        case .failure(let failure):
            file.state = .failed
            (file.error, file.advice, file.failure) = (failure.message, failure.advice, failure.class)
            enter([file], done: done)
        }
    }

    /// Enters the jobs of a list that a client has passed. Calls `done` once the jobs are in the ledger. Blocks on the
    /// list's disk.
    package nonisolated func add(
        list file: Descriptor, named name: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void
    ) {
        let reading = reading(file, called: name ?? "")
        Coordination.async { [self] in
            switch reading {
            case .failure(let failure):
                done(.failure(.unfit(failure.message + (failure.advice.map { "; \($0)" } ?? ""))))
            case .success(let list):
                var listed = jobs(of: list, called: name, terms.order, in: terms.batch, terms.priority)
                listed.cause = "added by \(terms.peer)"
                Log.notice(
                    "add of \(listed.count.counted("URL")) to '\(terms.order.recipe)' asked for by \(terms.peer)",
                    of: LogSubject(batch: listed.batch.id, recipe: terms.order.recipe))
                enter(listed, terms, done: done)
            }
        }
    }

    private func enter(
        _ listed: ListedJobs, _ terms: AddingTerms, done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void
    ) {
        let added: AddedJobs = (listed.batch.id, listed.id, listed.id + listed.count - 1)
        guard !terms.after.isEmpty else {
            return enter([], listed, batches: [listed.batch], isAsked: true) {
                done(.success(added))
            } refused: {
                done(.failure(.failed("the ledger refuses the list; see the daemon's log")))
            }
        }
        let records = listed.map { record in
            var record = record
            record.anyway = terms.anyway
            return record
        }
        enter(records, batches: [listed.batch], after: terms.after) { answer in
            done(answer == .done ? .success(added) : .failure(.needs(answer, job: added.first)))
        }
    }

    /// Makes the jobs of a list. The caller must enter them in the ledger.
    private func jobs(
        of list: AddressList, called name: String?, _ order: WorkOrder, in known: Int? = nil,
        _ priority: Priority? = nil
    ) -> ListedJobs {
        var list = list
        var (orders, reasons) = ([String: WorkOrder](), [String: String]())
        for name in list.recipes {
            if let recipe = configuration.now.recipe(name) {
                orders[name] = configuration.order(for: recipe)
            } else {
                reasons[name] = configuration.now.reason(against: name)
            }
        }
        list.refuse(recipes: reasons)
        let batch = BatchRecord(id: known ?? jobs.takeBatch(), name: name, isOpen: false)
        let (id, position) = jobs.numbers.takeJobs(list.entries.count)
        return ListedJobs(
            list: list, name: name, order: order, orders: orders, priority: priority, batch: batch,
            spool: configuration.places.spool, id: id, position: position)
    }

    // MARK: - Reading

    nonisolated private func reading(_ claim: Claim, in inbox: Inbox) -> Reading {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        return Result {
            // Other users can move files in the inbox, so the path alone is not safe to open.
            try claims.open(inbox.folder).filePlace(claim.source).open(flags)
        }
        .mapError { JobFailure($0, during: "reading the list") }
        .flatMap { reading($0, called: FileSystem.name(of: claim.path)) }
    }

    /// Reads a list. Apart from clients' calls, lists are the only untrusted text that the supervisor parses.
    private nonisolated func reading(_ file: Descriptor, called name: String) -> Reading {
        let limits = configuration.settings.downloads
        do {
            let status = FileStatus(try file.status())
            guard status.kind == .file else { throw JobFailure("the list is not a file") }
            guard status.size <= limits.listSize else {
                throw JobFailure(
                    "the list has \(status.size) bytes, and ListSize allows \(limits.listSize)",
                    advice: "split it, or raise ListSize in [Download]")
            }
            let bytes = try FileSystem.read(file, most: Int(limits.listSize), called: name)
            do throws(Refusal) {
                return .success(
                    try AddressList(
                        Array(bytes), AddressList.kind(of: name) ?? .lines, most: limits.listLines))
            } catch {
                throw JobFailure("the list \(error.complaint)", advice: error.advice)
            }
        } catch {
            return .failure(error as? JobFailure ?? JobFailure(error, during: "reading the list"))
        }
    }
}
