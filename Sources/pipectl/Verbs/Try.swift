import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let recipe = Option(
        "--recipe", value: "RECIPE", kinds: [.recipe], "try this recipe; repeat it for several")
    fileprivate static let chain = Option(
        "--chain", value: "CHAIN", kinds: [.chain], "try this chain; repeat it for several")
    fileprivate static let output = Option(
        "--output", short: "-o", value: "PATH", kinds: [.file],
        "the result's file, or a folder for the results; default: the working folder")
    fileprivate static let sheet = Option(
        "--sheet", "one picture for each FILE: itself and all of its results, side by side")
}

extension Verb {
    static let `try` = Verb(
        name: "try",
        summary: "render pictures without a job, to find a chain",
        usage: "FILE… [--recipe RECIPE]… [--chain CHAIN]… [--raw KIND] [--output PATH] [--sheet]",
        discussion: [
            "The daemon's workers render each FILE, as they would in a job. Nothing is recorded, nothing goes to an",
            "outbox, and the FILE stays as it is. Without a recipe or a chain, the default recipe is tried.",
            "A result is called STEM.try.SUFFIX, or STEM.try.RECIPE.SUFFIX if there are several, and replaces an older one.",
            "A sheet is a JPEG, unless PATH ends in .png or .webp.",
        ],
        arguments: [Argument("FILE", count: 1...Int.max, kinds: [.file], "a picture that you may read")],
        options: [.recipe, .chain, .raw, .output, .sheet],
        examples: [
            Example("pipectl try harbour.jpg --chain 'resize edge=1600 | noir'", "writes harbour.try.jpg"),
            Example(
                "pipectl try harbour.jpg --chain noir --chain sepia --sheet",
                "before and two chains, side by side"),
            Example("pipectl try *.jpg --recipe web --output /tmp/", "a recipe, on several pictures"),
        ],
        run: { context in
            let invocation = context.invocation
            try context.checkRaw(beside: .chain)
            var files = TriedFiles(output: invocation.value(.output))
            let chains = invocation.values(.chain).count + invocation.values(.recipe).count
            let sheets = invocation.has(.sheet)
            try files.checkRoom(for: invocation.arguments.count * (sheets ? 1 : max(1, chains)))
            try files.checkPlace()
            var code = ExitCode.done
            for input in invocation.arguments {
                do {
                    if try context.tryOut(input, &files) == false { code = .failed }
                } catch {
                    // A mistake in the command affects every picture.
                    guard let failure = concerning(input, error), failure.code == .failed else { throw error }
                    try context.complain(failure)
                    code = .failed
                }
            }
            return code
        })

    private static func concerning(_ file: String, _ error: any Error) -> Failure? {
        switch error {
        case ControlError.refused(let reason): Failure("Refused", "\(file): \(reason)", .failed)
        case let failure as Failure: failure
        default: nil
        }
    }
}

/// The JSON that describes a result of `try`.
private struct Tried: Encodable {
    var input: String
    @Omissible var file: String?
    @Omissible var before: Control.Picture?
    var proof: Control.Proof

    init(_ input: String, _ path: String?, _ before: Control.Picture?, _ proof: Control.Proof) {
        (self.input, self.proof) = (input, proof)
        file = path.map(FileSystem.absolute)
        self.before = before
    }
}

/// The JSON that describes a sheet.
private struct TriedSheet: Encodable {
    var input: String
    var file: String
    @Omissible var before: Control.Picture?
    var sheet: Control.Picture
    var proofs: [Control.Proof]

    init(_ input: String, _ path: String, _ reply: Call.Try.Reply, _ sheet: Control.Picture) {
        (self.input, file, self.sheet, proofs) = (input, FileSystem.absolute(path), sheet, reply.proofs)
        before = reply.before
    }
}

extension Context {
    /// Renders one picture and prints the results; returns false if a result could not be made.
    fileprivate func tryOut(_ input: String, _ files: inout TriedFiles) throws -> Bool {
        let source = try openPicture(input)
        let wantsSheet = invocation.has(.sheet)
        let (reply, results) = try client().callForFiles(
            Call.Try(
                name: input, recipes: invocation.values(.recipe), chains: invocation.values(.chain),
                sheet: wantsSheet ? sheetFormat(files.suffix) : nil, raw: invocation.value(.raw)),
            descriptors: [source])
        if let sheet = reply.sheet, let file = results.first {
            let suffix = sheet.format == "jpeg" ? "jpg" : sheet.format
            let path = try files.write(file, of: input, label: "sheet", suffix: suffix, never: source)
            try show(sheet: sheet, of: reply, input, path)
        } else {
            try files.checkRoom(for: reply.proofs.count)
            var results = results[...]
            for (proof, label) in zip(reply.proofs, Self.labels(reply.proofs)) {
                var path: String?
                if proof.picture != nil, let file = results.popFirst() {
                    try check(files.suffix, proof)
                    path = try files.write(file, of: input, label: label, suffix: proof.suffix ?? "", never: source)
                }
                try show(proof, of: reply, input, path)
            }
        }
        return reply.proofs.allSatisfy { $0.problem == nil }
    }

    private func openPicture(_ path: String) throws(Failure) -> Descriptor {
        do {
            // Without O_NONBLOCK, opening a named pipe would block until another process opens it for writing.
            let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            guard try file.status().st_mode & S_IFMT == S_IFREG else {
                throw Failure("CannotRead", "\(path): is not a regular file", .failed)
            }
            return file
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("CannotRead", "\(path): \((error as? SystemError)?.reason ?? "\(error)")", .failed)
        }
    }

    private func sheetFormat(_ suffix: String?) throws(Failure) -> String {
        switch suffix {
        case nil, "jpg", "jpeg": "jpeg"
        case "png", "webp": suffix ?? ""
        case let other?: throw .usage("a sheet is a .jpg, a .png or a .webp, not a .\(other)")
        }
    }

    /// Throws if the suffix of `--output` contradicts the format of the result.
    private func check(_ suffix: String?, _ proof: Control.Proof) throws(Failure) {
        guard let suffix else { return }
        let same = ["jpeg": "jpg", "tiff": "tif"]
        guard let made = proof.suffix, same[suffix] ?? suffix != made else { return }
        throw .usage("the result is a .\(made); use that suffix, or end the chain in `save format=…`")
    }

    /// Labels that distinguish the results of a picture by name; nil for a single result.
    private static func labels(_ proofs: [Control.Proof]) -> [String?] {
        guard proofs.count > 1 else { return proofs.map { _ in nil } }
        var chains: [String] = []
        return proofs.map { proof in
            if let recipe = proof.recipe {
                return ([recipe] + [proof.output].compactMap(\.self)).joined(separator: ".")
            }
            if !chains.contains(proof.chain) { chains.append(proof.chain) }
            let number = (chains.firstIndex(of: proof.chain) ?? 0) + 1
            return (["\(number)"] + [proof.output].compactMap(\.self)).joined(separator: ".")
        }
    }

    private func show(_ proof: Control.Proof, of reply: Call.Try.Reply, _ input: String, _ path: String?) throws {
        guard !json else {
            return try output.object(Tried(input, path, reply.before, proof))
        }
        guard let picture = proof.picture, let path else {
            let what = proof.recipe ?? proof.chain
            return try output.line("\(input)  \(what): \(Text(proof.problem ?? "no result", .bad))")
        }
        let size = "\(picture.dimensions), \(Amount.bytes(picture.bytes))"
        let time = proof.milliseconds.map { ", \(Amount.milliseconds($0))" } ?? ""
        try output.line("\(input) → \(shown(path), .strong)  \(size)\(time)")
        if let decode = proof.decode { try output.line(Text("  \(decode)", .faint)) }
        try output.flush()
    }

    private func show(sheet: Control.Picture, of reply: Call.Try.Reply, _ input: String, _ path: String) throws {
        guard !json else { return try output.object(TriedSheet(input, path, reply, sheet)) }
        try output.line(
            "\(input) → \(shown(path), .strong)  \(sheet.dimensions), \(Amount.bytes(sheet.bytes))")
        for proof in reply.proofs {
            let what = ([proof.recipe ?? proof.chain] + [proof.output].compactMap(\.self)).joined(separator: ", ")
            if let problem = proof.problem {
                try output.line("  \(what): \(Text(problem, .bad))")
            } else {
                let time = proof.milliseconds.map { Amount.milliseconds($0) } ?? ""
                try output.line(Text("  \(what)  \(time)", .faint))
            }
        }
        try output.flush()
    }

    /// The path without its leading `./`.
    private func shown(_ path: String) -> String { path.hasPrefix("./") ? String(path.dropFirst(2)) : path }
}
