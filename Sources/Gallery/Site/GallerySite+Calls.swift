import FoundationEssentials
import PipelineControl
import ServiceProgram

/// Forwards the page's calls to the daemon's control socket.
extension GallerySite {
    private struct Method: Sendable {
        let call: any ControlCall.Type
        let role: Role
    }

    /// The calls that the page and programs may make, keyed by name, with the roles that they need. They read, add and
    /// control jobs, and change the recipes that `SaveRecipe` made. `tooMuch` refuses parameters that go further.
    private static let methods: [String: Method] = {
        let calls: [(Role, [any ControlCall.Type])] = [
            (
                .look,
                [
                    Call.Status.self, Call.WhyWaiting.self, Call.List.self, Call.ListIDs.self, Call.Batches.self,
                    Call.FindBatch.self, Call.Show.self, Call.Log.self, Call.Explain.self, Call.Sift.self,
                    Call.Recipes.self, Call.Plugins.self, Call.Ask.self,
                ]
            ),
            (.add, [Call.NewBatch.self, Call.CloseBatch.self, Call.AddUrls.self]),
            (
                .steer,
                [
                    Call.Cancel.self, Call.CancelAll.self, Call.CancelMatching.self, Call.Prioritise.self,
                    Call.Retry.self, Call.Redo.self, Call.Undo.self, Call.Pause.self, Call.Resume.self,
                    Call.Concurrency.self, Call.SaveRecipe.self, Call.RemoveRecipe.self,
                ]
            ),
        ]
        let prefix = ControlInterface.control.name.count + 1
        let methods = calls.flatMap { role, calls in
            calls.map { (String($0.method.dropFirst(prefix)), Method(call: $0, role: role)) }
        }
        return Dictionary(uniqueKeysWithValues: methods)
    }()

    /// An unknown call needs only the lowest role; the answer says that the call does not exist.
    static func role(ofCall name: String) -> Role { methods[name]?.role ?? .look }

    func call(_ name: String, _ request: HTTPRequest, _ client: HTTPCall) {
        switch name {
        case "NewBatch":
            guard let call = parameters(Call.NewBatch.self, of: request, client) else { return }
            return batches.open(call) { client.answer(with: $0) }
        case "CloseBatch":
            if let call = try? Wire.decode(Call.CloseBatch.self, request.bytes) { batches.close(call.batch) }
        case "AddUrls":
            let call = try? Wire.decode(Call.AddUrls.self, request.bytes)
            if let batch = call?.batch { batches.touch(batch) }
        case "Explain" where guardian.token(of: request) != nil:
            // The answer would reveal which files exist on the daemon's machine.
            guard (try? Wire.decode(Call.Explain.self, request.bytes))?.file == nil else {
                return client.answer(.failure(403, "a program with a token asks about a chain, not about a file"))
            }
        default: break
        }
        guard let method = Self.methods[name] else {
            return client.answer(
                .failure(
                    404,
                    "a page can't call '\(name.prefix(80))'; it can \(Self.methods.keys.sorted().joined(separator: ", "))"
                ))
        }
        if let refusal = Self.tooMuch(name, request) { return client.answer(.failure(403, refusal)) }
        if method.role == .steer { log(request, name) }
        call(method.call, request, client)
    }

    /// Why the gallery refuses a call whose parameters save a setting or choose a folder to write to; nil for all other
    /// calls, which it forwards.
    private static func tooMuch(_ name: String, _ request: HTTPRequest) -> String? {
        switch name {
        case "Undo" where (try? Wire.decode(Call.Undo.self, request.bytes))?.to != nil:
            "the gallery chooses no folder for originals: use `pipectl undo --to`"
        case "Concurrency" where (try? Wire.decode(Call.Concurrency.self, request.bytes))?.save == true:
            "the gallery saves no limits: use `pipectl concurrency --save`"
        default: nil
        }
    }

    /// Logs the token's name for a request that changes something, because the daemon knows only the gallery's user.
    func log(_ request: HTTPRequest, _ call: String) {
        guard let token = guardian.token(of: request) else { return }
        Log.notice("the program with the token '\(token.name)' calls \(call)")
    }

    private func call<Call: ControlCall>(_: Call.Type, _ request: HTTPRequest, _ client: HTTPCall) {
        guard let call = parameters(Call.self, of: request, client) else { return }
        // The long timeout is for calls that answer only after the work that they started has finished.
        let ticket = calls.call(call, patience: 600) { answer in
            client.answer(with: answer)
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
            client.answer(.failure(400, "the parameter '\(name)' has the wrong type"))
        } catch {
            client.answer(.failure(400, "the body is not a JSON object"))
        }
        return nil
    }
}
