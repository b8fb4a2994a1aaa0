import PipelineControl
import SystemCalls

/// Serves pictures, which the daemon passes as file descriptors.
extension GallerySite {
    func picture(_ id: Int, _ result: Int?, _ request: HTTPRequest, _ client: HTTPCall) {
        let text = request.query["width"]
        let width = text.flatMap { Int($0) }
        guard text == nil || width != nil else {
            return client.answer(.failure(400, "width is a number of pixels, not '\(text?.prefix(40) ?? "")'"))
        }
        guard let width, let version = request.query["v"] else {
            return open(Call.Open(id: id, result: result, width: width), client) { name, file in
                client.answer(.picture(name, file, isDownload: width == nil))
            }
        }
        let wish = previews.open(PreviewDesk.Key(id: id, result: result, width: width, version: version)) { answer in
            client.take(answer) { name, file in
                // Browsers may cache the preview, because its URL contains `version` and changes with the picture.
                client.answer(
                    .picture(name, file, isDownload: false).with("Cache-Control", "private, max-age=86400"))
            }
        }
        client.whenAbandoned { wish.withdraw() }
    }

    /// Renders a job's original, or one of its results, with another chain or recipe, without adding a job.
    func tryOut(_ id: Int, _ result: Int?, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let wish = trial(request, client) else { return }
        open(Call.Open(id: id, result: result), client) { name, file in render(name, file, wish, client) }
    }

    /// Renders the page's own sample with a chain or recipe.
    func tryOnSample(_ request: HTTPRequest, _ client: HTTPCall) {
        guard let wish = trial(request, client) else { return }
        guard let file = try? Descriptor.memory(PageFile.sample) else {
            return client.answer(.failure(503, "there is no room for the sample"))
        }
        render("sample.webp", file, wish, client)
    }

    /// Reads which chain or recipe to try. If the request does not name exactly one, answers the client, and returns
    /// nil.
    private func trial(_ request: HTTPRequest, _ client: HTTPCall) -> Trial? {
        guard let wish = parameters(Trial.self, of: request, client) else { return nil }
        guard (wish.chain == nil) != (wish.recipe == nil) else {
            client.answer(.failure(400, "give either a chain or a recipe"))
            return nil
        }
        return wish
    }

    private func render(_ name: String, _ file: Descriptor, _ wish: Trial, _ client: HTTPCall) {
        let trial = Call.Try(
            name: name, recipes: wish.recipe.map { [$0] } ?? [], chains: wish.chain.map { [$0] } ?? [],
            raw: wish.chain == nil ? nil : wish.raw)
        let ticket = calls.call(trial, passing: [file], patience: 120) { answer in
            switch answer {
            case .failure(let why): client.answer(.failure(why))
            case .success(let answered):
                guard let proof = answered.reply.proofs.first, let file = answered.files.first else {
                    let problem = answered.reply.proofs.first?.problem ?? "no result was made"
                    return client.answer(.failure(409, problem))
                }
                client.answer(.picture("tried" + (proof.suffix.map { ".\($0)" } ?? ""), file, isDownload: false))
            }
        }
        client.whenAbandoned { ticket.withdraw() }
    }

    /// Adds a copy of a job's original under another recipe.
    func addAgain(_ id: Int, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let wish = parameters(RecipeChoice.self, of: request, client) else { return }
        open(Call.Open(id: id), client) { name, file in
            calls.call(Call.Add(name: name, recipe: wish.recipe), passing: [file], patience: Self.patienceOfCopies) {
                client.answer(with: $0)
            }
        }
    }

    private func open(
        _ call: Call.Open, _ client: HTTPCall, _ use: @escaping @Sendable (String, Descriptor) -> Void
    ) {
        let ticket = calls.call(call, patience: PreviewDesk.patience) { client.take($0, use) }
        client.whenAbandoned { ticket.withdraw() }
    }
}

private struct Trial: Decodable {
    var chain: String?
    var recipe: String?
    var raw: String?
}

private struct RecipeChoice: Decodable {
    var recipe: String
}

extension HTTPCall {
    /// Calls `use` with the picture's name and file. If there is no picture, sends the client the reason.
    fileprivate func take(_ answer: PreviewDesk.Answer, _ use: (String, Descriptor) -> Void) {
        switch answer {
        case .success(let answered):
            guard let file = answered.files.first else {
                return self.answer(.failure(503, "the daemon has returned no file"))
            }
            use(answered.reply.name, file)
        case .failure(let why): self.answer(.failure(why))
        }
    }

    func answer(with answer: Result<ControlCalls.Answered<some Encodable>, NoAnswer>) {
        switch answer {
        case .success(let answered): self.answer(.json(answered.reply))
        case .failure(let why): self.answer(.failure(why))
        }
    }
}

extension HTTPAnswer {
    /// The media types that browsers display. None of these formats can contain a script; all other pictures are sent
    /// as downloads.
    private static let shown = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif",
        "avif": "image/avif",
    ]

    static func picture(_ name: String, _ file: Descriptor, isDownload: Bool) -> HTTPAnswer {
        guard let size = (try? file.status()).map({ FileStatus($0).size }) else {
            return .failure(500, "the picture can't be read")
        }
        let suffix = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let type = shown[suffix]
        let answer = HTTPAnswer(
            status: 200, type: type ?? "application/octet-stream", body: .file(file, bytes: Int(size)))
        guard isDownload || type == nil else { return answer }
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~".utf8)
        let escaped = name.utf8.map { byte in
            if allowed.contains(byte) { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
        return answer.with("Content-Disposition", "attachment; filename*=UTF-8''\(escaped)")
    }
}
