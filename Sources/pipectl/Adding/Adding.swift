import PipelineControl
import SystemCalls

/// Adds the pictures, folders and URLs of `pipectl add`; prints each job unless the command waits for the jobs.
struct Adding {
    /// The command's options; they apply to everything that it adds.
    struct Wish {
        var recipe: String?
        var chain: String?
        var raw: String?
        var after: [Int]
        var anyway: Bool
        var priority: String?
        /// Whether to print jobs when they end instead of when they are added.
        var isWaiting: Bool
    }

    private let context: Context
    private let wish: Wish
    /// IDs of the added jobs.
    private(set) var ids: [Int] = []
    /// Numbers of the added jobs' batches.
    private(set) var batches: [Int] = []
    private(set) var code = ExitCode.done

    init(_ context: Context, _ wish: Wish) { (self.context, self.wish) = (context, wish) }

    /// Adds several pictures as one batch, and each folder as a batch of its own.
    mutating func add(_ additions: [Addition]) throws {
        let others = additions.filter { if case .folder = $0 { false } else { true } }
        let batch = others.count > 1 ? try context.call(Call.NewBatch()).batch : nil
        try addingBatch(batch, named: nil) { adding in
            for addition in others {
                try adding.concerning(addition.name) { adding in
                    let file = try addition.opened()
                    switch addition {
                    case .picture, .folder:
                        try adding.add(file, called: FileSystem.name(of: addition.name), to: batch)
                    case .list:
                        try adding.add(list: file, called: FileSystem.name(of: addition.name), to: batch)
                    case .urls, .standardInput: try adding.add(list: file, called: nil, to: batch)
                    }
                }
            }
        }
        for case .folder(let folder) in additions { try concerning(folder) { try $0.add(folder: folder) } }
    }

    /// Adds a folder's pictures in the order of their names. Skips the files that the inbox would ignore.
    private mutating func add(folder: String) throws {
        let walk: FolderWalk
        do throws(SystemError) { walk = try FolderWalk(folder) } catch {
            throw Failure("CannotRead", "\(folder): \(error.reason)", .failed)
        }
        for (inside, error) in walk.unread {
            try complain(Failure("CannotRead", "\(folder)/\(inside): \(error.reason)", .failed))
        }
        let left = try ignored(of: walk.files)
        LeftOut.say(left + walk.ignored, of: folder, json: context.json)
        let names = Set(left.map { FileSystem.Key($0.path) })
        let pictures = walk.files.filter { !names.contains(FileSystem.Key($0)) }
        guard !pictures.isEmpty else { throw Failure("CannotRead", "\(folder): there is no picture to add", .failed) }
        let path = FileSystem.resolved(folder)
        let name = path == "/" ? nil : FileSystem.name(of: path)
        let batch = try context.call(Call.NewBatch(name: name)).batch
        try addingBatch(batch, named: name) { adding in
            for picture in pictures {
                try adding.concerning("\(folder)/\(picture)") { adding in
                    let file: Descriptor
                    do throws(SystemError) { file = try walk.open(picture) } catch {
                        throw Failure("CannotRead", "\(folder)/\(picture): \(error.reason)", .failed)
                    }
                    let (inside, fileName) = (FileSystem.subfolder(of: picture), FileSystem.name(of: picture))
                    if Addition.isList(fileName) { return try adding.add(list: file, called: fileName, to: batch) }
                    let place = [name, inside].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "/")
                    try adding.add(file, called: fileName, in: place.isEmpty ? nil : place, to: batch)
                }
            }
        }
    }

    /// Maximum names per `Sift` call. It is lower than `mostIDs`, because the size of a call is limited, too.
    private static let portion = 80

    private func ignored(of files: [String]) throws -> [Control.Ignored] {
        try stride(from: 0, to: files.count, by: Self.portion).flatMap { start in
            let names = Array(files[start..<min(files.count, start + Self.portion)])
            return try context.call(Call.Sift(names: names, recipe: wish.recipe, chain: wish.chain)).ignored
        }
    }

    // MARK: - Calls

    private mutating func add(
        _ file: Descriptor, called name: String, in folder: String? = nil, to batch: Int?
    ) throws {
        let job = try context.call(
            Call.Add(
                name: name, recipe: wish.recipe, chain: wish.chain, batch: batch,
                after: wish.after.isEmpty ? nil : wish.after, anyway: wish.anyway ? true : nil, priority: wish.priority,
                folder: folder, raw: wish.raw), descriptors: [file]
        ).job
        ids.append(job.id)
        if !wish.isWaiting { try context.print(job) }
    }

    private mutating func add(list: Descriptor, called name: String?, to batch: Int?) throws {
        let reply = try context.call(
            Call.AddList(
                name: name, recipe: wish.recipe, chain: wish.chain, batch: batch,
                after: wish.after.isEmpty ? nil : wish.after, anyway: wish.anyway ? true : nil, priority: wish.priority,
                raw: wish.raw), descriptors: [list])
        let jobs = reply.first...reply.last
        ids += jobs
        if !wish.isWaiting { try show(jobs, of: reply.batch) }
        guard batch == nil else { return }
        batches.append(reply.batch)
        try printBatch(reply.batch, nil, jobs.count)
    }

    private mutating func show(_ jobs: ClosedRange<Int>, of batch: Int) throws {
        var hasFailed = false
        try context.client().stream(Call.List(batch: batch)) { page in
            for job in page.jobs where jobs.contains(job.id) {
                hasFailed = hasFailed || job.state == "failed"
                try context.print(job)
            }
            return true
        }
        if hasFailed { code = .failed }
    }

    // MARK: - Reporting

    /// Runs `body`, then closes the batch and prints its number if it has jobs.
    private mutating func addingBatch(
        _ batch: Int?, named name: String?, _ body: (inout Adding) throws -> Void
    ) throws {
        let before = ids.count
        try body(&self)
        guard let batch else { return }
        _ = try context.call(Call.CloseBatch(batch: batch))
        guard ids.count > before else { return }
        batches.append(batch)
        try printBatch(batch, name, ids.count - before)
    }

    private func printBatch(_ batch: Int, _ name: String?, _ count: Int) throws {
        guard !context.json else { return }
        let title = ["batch \(batch)", name].compactMap(\.self).joined(separator: " ")
        try context.output.line(Text("\(title): \(Amount.counted(count, "job"))"))
    }

    /// Reports a file's failure, and continues with the other files.
    private mutating func concerning(_ file: String, _ body: (inout Adding) throws -> Void) throws {
        do {
            try body(&self)
        } catch let failure as Failure where failure.name == "CannotRead" {
            try complain(failure)
        } catch ControlError.refused(let reason) {
            try complain(Failure("Refused", "\(file): \(reason)", .failed))
        } catch ControlError.badValue(let reason) {
            try complain(Failure("BadValue", "\(file): \(reason)", .failed))
        }
    }

    private mutating func complain(_ failure: Failure) throws {
        try context.complain(failure)
        code = .failed
    }
}
