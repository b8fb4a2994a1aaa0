import FoundationEssentials
import PipelineControl

/// Forwards the page's calls to the daemon's control socket.
extension GallerySite {
    /// The calls that the page may make, keyed by name. They read, add and control jobs. None of them reads or writes
    /// the configuration, or removes a file.
    private static let methods: [String: any ControlCall.Type] = Dictionary(
        uniqueKeysWithValues: [
            Call.Status.self, Call.WhyWaiting.self, Call.List.self, Call.ListIDs.self, Call.Batches.self,
            Call.FindBatch.self, Call.Show.self, Call.Log.self, Call.Explain.self, Call.Sift.self, Call.NewBatch.self,
            Call.CloseBatch.self, Call.Cancel.self, Call.CancelAll.self, Call.CancelMatching.self,
            Call.Prioritise.self, Call.Retry.self, Call.Redo.self, Call.Undo.self, Call.Pause.self, Call.Resume.self,
            Call.Concurrency.self, Call.Recipes.self, Call.Plugins.self, Call.AddUrls.self, Call.Ask.self,
        ].map { (call: any ControlCall.Type) in
            (String(call.method.dropFirst(ControlInterface.control.name.count + 1)), call)
        })

    func call(_ name: String, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let method = Self.methods[name] else {
            return client.answer(
                .failure(
                    404,
                    "a page can't call '\(name.prefix(80))'; it can \(Self.methods.keys.sorted().joined(separator: ", "))"
                ))
        }
        call(method, request, client)
    }

    private func call<Call: ControlCall>(_: Call.Type, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let call = parameters(Call.self, of: request, client) else { return }
        // The long timeout is for calls that answer only after the work that they started has finished.
        let ticket = calls.call(call, patience: 600) { answer in
            switch answer {
            case .success(let answered): client.answer(.json(answered.reply))
            case .failure(let why): client.answer(.failure(why))
            }
        }
        client.whenAbandoned { ticket.withdraw() }
    }

    /// Decodes the call's parameters from the request's body. If that fails, answers the client and returns nil.
    func parameters<Parameters: Decodable>(
        _: Parameters.Type, of request: HTTPRequest, _ client: HTTPCall
    ) -> Parameters? {
        do {
            return try Wire.decode(Parameters.self, request.bytes.isEmpty ? Array("{}".utf8) : request.bytes)
        } catch DecodingError.keyNotFound(let key, _) {
            client.answer(.failure(400, "the parameter '\(key.stringValue)' is missing"))
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let name = context.codingPath.map(\.stringValue).joined(separator: ".")
            client.answer(.failure(400, "the parameter '\(name)' is of another type"))
        } catch {
            client.answer(.failure(400, "the body is no JSON object"))
        }
        return nil
    }
}
