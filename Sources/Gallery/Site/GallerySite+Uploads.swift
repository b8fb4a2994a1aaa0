import PipelineControl
import SystemCalls

/// Receives pictures that browsers upload.
extension GallerySite {
    /// Seconds to wait after a picture was added. The daemon answers only after it has copied the picture to durable
    /// storage.
    static let patienceOfCopies = 600

    /// Gets a new file on the daemon's disk, into which the server writes the body, so that an upload costs no memory.
    func beginUpload(_ bytes: Int, _ done: @escaping @Sendable (Result<Descriptor, HTTPRefusal>) -> Void) {
        calls.call(Call.NewFile(bytes: bytes)) { answer in
            switch answer {
            case .success(let answered):
                guard let file = answered.files.first else {
                    return done(.failure(HTTPRefusal(answer: .failure(503, "the daemon has returned no file"))))
                }
                done(.success(file))
            case .failure(let why): done(.failure(HTTPRefusal(answer: .failure(why))))
            }
        }
    }

    /// Adds the uploaded file. If the URL has the parameter `hold`, only keeps the file until `addHeld` adds it, so
    /// that a browser can send several files at once and add them in their order.
    func upload(_ request: HTTPRequest, _ client: HTTPCall) {
        if request.query["hold"] != nil {
            guard let file = request.file else { return client.answer(.failure(400, "an upload needs a body")) }
            guard let name = held.keep(file) else {
                let busy = HTTPAnswer.failure(503, "too many uploads wait to be added; send it again later")
                return client.answer(busy.with("Retry-After", "10"))
            }
            return client.answer(.json(["held": name]))
        }
        guard let name = request.query["name"], let file = request.file else {
            return client.answer(.failure(400, "an upload needs a name: /upload?name=a.jpg"))
        }
        let batch = request.query["batch"]
        guard batch == nil || batch.flatMap({ Int($0) }) != nil else {
            return client.answer(.failure(400, "batch must be a number from NewBatch"))
        }
        let query = request.query
        let addition = Addition(
            name: name, recipe: query["recipe"], chain: query["chain"], batch: batch.flatMap { Int($0) },
            folder: query["folder"], list: query["list"] != nil)
        add(addition, file, client)
    }

    func addHeld(_ name: String, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let addition = parameters(Addition.self, of: request, client) else { return }
        guard let file = held.take(name) else {
            return client.answer(.failure(409, "the gallery no longer holds this file: send it again"))
        }
        add(addition, file, client)
    }

    private func add(_ wish: Addition, _ file: Descriptor, _ client: HTTPCall) {
        if let batch = wish.batch { batches.touch(batch) }
        if wish.list == true {
            let list = Call.AddList(name: wish.name, recipe: wish.recipe, chain: wish.chain, batch: wish.batch)
            calls.call(list, passing: [file], patience: Self.patienceOfCopies) { client.answer(with: $0) }
        } else {
            let picture = Call.Add(
                name: wish.name, recipe: wish.recipe, chain: wish.chain, batch: wish.batch, folder: wish.folder)
            calls.call(picture, passing: [file], patience: Self.patienceOfCopies) { client.answer(with: $0) }
        }
    }
}

/// The parameters with which an uploaded file is added.
private struct Addition: Decodable {
    var name: String
    var recipe: String?
    var chain: String?
    var batch: Int?
    var folder: String?
    /// Whether the file is a list of URLs.
    var list: Bool?
}
