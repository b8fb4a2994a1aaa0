import Dispatch
import PipelineModel
import SystemCalls

/// What a crash, or a stop, has left in the middle is put right before anything new begins.
extension Supervisor {
    func recover() throws {
        let highest = try ledger.highest()
        (nextID, nextPosition, nextBatch) = (highest.id + 1, highest.position + 1, highest.batch + 1)
        for var job in try ledger.interrupted() {
            if let intent = job.intent {
                // The intent was recorded: its job ends done.
                let published = try publisher.recover(intent)
                job.state = .done
                job.outputs = published.map(\.path)
                job.finished = Timestamp.now()
            } else if job.state == .cancelling {
                job.state = .cancelled
                job.finished = Timestamp.now()
            } else {
                job.state = .queued
                job.started = nil
            }
            ledger.record(job)
        }
        try sweepStaging()
        sweepSpool()
        guard ledger.flush(seconds: 30) else { throw JobFailure("the ledger can't be written; see above") }
        counts = try ledger.counts()
        if let left = counts[.queued], left > 0 { Log.notice("in the queue from before: \(left)") }
    }

    /// Whatever lies in `.staging` belongs to nobody now: what an intent names has been published above.
    private func sweepStaging() throws {
        for recipe in current.configuration.recipes {
            try sweep(current.outbox(of: recipe, places) + "/.staging")
        }
        try sweep(current.adHocOutbox(places) + "/.staging")
    }

    private func sweep(_ staging: String) throws {
        guard FileSystem.exists(staging) else { return }
        for name in try FileSystem.names(in: staging).compactMap(\.self) {
            try FileSystem.remove(FileSystem.join(staging, name))
        }
    }

    /// Copies whose job was never recorded: the caller was not told that they are safe.
    private func sweepSpool() {
        for name in (try? FileSystem.names(in: places.spool).compactMap(\.self)) ?? [] {
            let folder = FileSystem.join(places.spool, name)
            for file in (try? FileSystem.names(in: folder).compactMap(\.self)) ?? [] {
                let path = FileSystem.join(folder, file)
                if !knows(source: path) { try? FileSystem.remove(path) }
            }
            FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
        }
    }

    /// Ended jobs whose originals have not been moved: after a crash, and after a cancel of many.
    func disposeBacklog() {
        disposing.async { [self] in
            while let jobs = try? ledger.undisposed(limit: 200), !jobs.isEmpty {
                var moved = 0
                for job in jobs where (try? disposeOnce(job)) != nil { moved += 1 }
                // Those that can't be moved now are tried again at the next start.
                guard moved > 0, ledger.flush(seconds: 60) else { return }
            }
        }
    }
}
