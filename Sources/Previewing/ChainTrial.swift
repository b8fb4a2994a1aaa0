package import DaemonInterface
package import DaemonRuntime
import Dispatch
import Glibc
import JobModel
import PictureFiles
package import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
package import WorkerPools
import WorkerProtocol

/// Renders a picture with several chains, one after the other, into unnamed files. The ledger does not record trials.
@Coordination
package final class ChainTrial {
    /// An unnamed file. A worker writes it through `target`; a client can only read it through `result`.
    private struct NamelessFile: Sendable {
        let target: Descriptor
        let result: Descriptor

        init(in spool: String) throws {
            // The file has a name only during this initializer. If a crash leaves the file behind, the next start
            // removes it.
            let folder = Spool.unfinished(Spool.folder(in: spool))
            let path = FileSystem.join(folder, "proof")
            try FileSystem.makeFolders(folder)
            defer {
                try? FileSystem.remove(path)
                FileSystem.removeEmptyFolders(from: folder, upTo: spool)
            }
            target = try Descriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            result = try Descriptor.open(path, O_RDONLY)
        }
    }

    private let wish: TrialWish
    private let pool: WorkerPool
    private let spool: String
    private let settings: Settings
    private let over: @Coordination (ChainTrial, TrialOutcome) -> Void
    private var outcome = TrialOutcome()
    /// The reduced original, for the sheet.
    private var original: Descriptor?
    private var task: RenderTask?
    private var isCancelled = false
    private var isOver = false

    package init(
        _ wish: TrialWish, _ pool: WorkerPool, spool: String, settings: Settings,
        over: @escaping @Coordination (ChainTrial, TrialOutcome) -> Void
    ) {
        (self.wish, self.pool, self.spool, self.settings, self.over) = (wish, pool, spool, settings, over)
    }

    package func begin() { wish.sheet == nil ? render(0) : renderOriginal() }

    /// Cancels all results that have not been rendered yet.
    package func cancel() {
        isCancelled = true
        if let task { pool.cancel(task) }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        // The task retains this trial, so dropping the task breaks the cycle.
        task = nil
        over(self, outcome)
    }

    // MARK: - Steps

    private func renderOriginal() {
        run([SheetRequest.cell(edge: wish.edge)], .accept, wish.candidates.first?.order.raw ?? .preview) {
            [self] result in
            switch result {
            case .success(let results):
                original = results.first?.file
                render(0)
            case .failure(let problem):
                // If the picture can't be read, it has no results either.
                outcome.problem = problem.words
                end()
            }
        }
    }

    private func render(_ number: Int) {
        guard number < wish.candidates.count, !isCancelled else { return wish.sheet == nil ? end() : compose() }
        let candidate = wish.candidates[number]
        let stages = candidate.pictures.map { picture in
            wish.sheet == nil
                ? picture.stages
                : picture.stages.dropLast() + SheetRequest.cell(edge: wish.edge, of: picture.stages.last)
        }
        run(stages, candidate.order.onTruncated, candidate.order.raw) { [self] result in
            for (index, picture) in candidate.pictures.enumerated() {
                var made = TrialResult(candidate: number, picture: picture)
                switch result {
                case .success(let results):
                    (made.output, made.decode) = (results[index].output, results[index].decode)
                    (made.milliseconds, made.file) = (results[index].milliseconds, results[index].file)
                case .failure(let problem): made.problem = problem.words
                }
                outcome.made.append(made)
            }
            render(number + 1)
        }
    }

    private func compose() {
        let pictures = [original].compactMap(\.self) + outcome.made.compactMap(\.file)
        guard let format = wish.sheet, !isCancelled, pictures.count > 1 else { return end() }
        let captions = zip(outcome.made, wish.captions).filter { $0.0.file != nil }.map(\.1)
        openFiles(1) { [self] files in
            guard let file = try? files.get().first else {
                outcome.problem = "\(files.failure.map { "\($0)" } ?? "no file could be made")"
                return end()
            }
            start(
                RenderTask(
                    composing: SheetRequest(captions: ["before"] + captions, format: format, edge: wish.edge),
                    files: .init(from: pictures, into: [file.target]), limits: limits(.fail, .preview)
                ) { [self] result in
                    Coordination.assumeIsolated { [self] in
                        switch result {
                        case .success(let outputs): outcome.sheet = outputs.first.map { ($0, file.result) }
                        case .failure(let failure): outcome.problem = Problem(failure).words
                        }
                        end()
                    }
                })
        }
    }

    // MARK: - Rendering

    private struct Problem: Error {
        var words: String

        init(_ failure: RenderTask.Failure) {
            words = JobFailure(failure, atTry: 1)?.message ?? "it was cancelled"
        }

        init(_ error: any Error) { words = "\(error)" }
    }

    private struct Rendered {
        var output: RenderedOutput
        var decode: String?
        var milliseconds: Double
        var file: Descriptor
    }

    private func limits(_ truncated: TruncatedPolicy, _ raw: RawPolicy) -> RenderTask.Limits {
        RenderTask.Limits(settings, onTruncated: truncated, raw: raw)
    }

    private func start(_ task: RenderTask) {
        self.task = task
        pool.run(task)
        if isCancelled { pool.cancel(task) }
    }

    private func openFiles(_ count: Int, _ done: @escaping Done<Result<[NamelessFile], any Error>>) {
        FileLanes.work(on: spool).async { [spool] in
            let files = Result { try (0..<count).map { _ in try NamelessFile(in: spool) } }
            Coordination.async { done(files) }
        }
    }

    private func run(
        _ stages: [[Stage]], _ truncated: TruncatedPolicy, _ raw: RawPolicy,
        _ done: @escaping Done<Result<[Rendered], Problem>>
    ) {
        openFiles(stages.count) { [self] opened in
            let files: [NamelessFile]
            do { files = try opened.get() } catch { return done(.failure(Problem(error))) }
            let header = Mutex<PictureHeader?>(nil)
            let began = Mutex<DispatchTime?>(nil)
            let task = RenderTask(
                .init(name: wish.name, outputs: stages.map { RenderOutput(name: nil, stages: $0) }),
                limits: limits(truncated, raw), files: .init(from: [wish.source], into: files.map(\.target)),
                reports: .init(
                    begun: { _ in began.withLock { $0 = .now() } },
                    opened: { seen in header.withLock { $0 = $0 ?? seen } })
            ) { [self] result in
                Coordination.assumeIsolated { [self] in
                    let (header, began) = (header.withLock { $0 }, began.withLock { $0 } ?? .now())
                    let milliseconds = Double(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds) / 1e6
                    outcome.before = outcome.before ?? header
                    done(
                        result.mapError(Problem.init).map { outputs in
                            zip(outputs, files).enumerated().map { index, made in
                                Rendered(
                                    output: made.0, decode: header?.decoderPaths[index], milliseconds: milliseconds,
                                    file: made.1.result)
                            }
                        })
                }
            }
            start(task)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
