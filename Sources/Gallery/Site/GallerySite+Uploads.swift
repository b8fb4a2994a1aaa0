import PipelineControl
import SystemCalls

/// Receives pictures that browsers upload.
extension GallerySite {
    /// Seconds to wait after a picture was added. The daemon answers only after it has copied the picture to durable
    /// storage.
    static let patienceOfCopies = 600

    /// Gets a new file on the daemon's disk, into which the server writes the body. So an upload costs no memory.
    func beginUpload(_ bytes: Int, _ done: @escaping @Sendable (Result<Descriptor, HTTPRefusal>) -> Void) {
        calls.call(Call.NewFile(bytes: bytes)) { answer in
            switch answer {
            case .success(let answered):
                guard let file = answered.files.first else {
                    return done(.failure(HTTPRefusal(answer: .failure(503, "the daemon has handed out no file"))))
                }
                done(.success(file))
            case .failure(let why): done(.failure(HTTPRefusal(answer: .failure(why))))
            }
        }
    }

    func upload(_ request: HTTPRequest, _ client: HTTPCall) {
        guard let name = request.query["name"], let file = request.file else {
            return client.answer(.failure(400, "an upload has a name: /upload?name=a.jpg"))
        }
        let batch = request.query["batch"]
        guard batch == nil || batch.flatMap({ Int($0) }) != nil else {
            return client.answer(.failure(400, "batch is a number, which NewBatch gives"))
        }
        let add = Call.Add(
            name: name, recipe: request.query["recipe"], chain: request.query["chain"],
            batch: batch.flatMap { Int($0) }, folder: request.query["folder"])
        calls.call(add, passing: [file], patience: Self.patienceOfCopies) { client.tell($0) }
    }
}
