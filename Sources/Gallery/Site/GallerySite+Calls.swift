import FoundationEssentials
import PipelineControl
import ServiceProgram

/// Forwards the page's calls to the daemon's control socket.
extension GallerySite {
    private struct Method: Sendable {
        let call: any ControlCall.Type
        let role: Role
    }

    /// The calls that the page and programs may make, keyed by name, each with the role that it requires. These calls
    /// read, add and control jobs, and change recipes that `SaveRecipe` made. `tooMuch` refuses calls that would do
    /// more.
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
        guard let method = Self.methods[name] else {
            let known = Self.methods.keys.sorted().joined(separator: ", ")
            return client.answer(
                .failure(404, "the gallery has no call '\(name.prefix(80))'; its calls are \(known)"))
        }
        call(method.call, name, request, client)
    }

    private func call<Request: ControlCall>(
        _: Request.Type, _ name: String, _ request: HTTPRequest, _ client: HTTPCall
    ) {
        guard let call = parameters(ReceivedParameters<Request>.self, of: request, client)?.call else { return }
        if let refusal = tooMuch(call, request) { return client.answer(.failure(403, refusal)) }
        if Self.role(ofCall: name) == .steer { log(request, name) }
        switch call {
        case let call as Call.NewBatch: return batches.open(call) { client.answer(with: $0) }
        case let call as Call.CloseBatch: batches.close(call.batch)
        case let call as Call.AddUrls: if let batch = call.batch { batches.touch(batch) }
        default: break
        }
        // The long timeout is for calls that answer only after the work that they started has finished.
        let ticket = calls.call(call, patience: 600) { answer in
            client.answer(with: answer)
        }
        client.whenAbandoned { ticket.withdraw() }
    }

    /// Why the gallery refuses the call; nil if it forwards the call. It refuses parameters that save a setting, choose
    /// a folder to write to, or let a program ask which files exist on the daemon's machine.
    private func tooMuch(_ call: any ControlCall, _ request: HTTPRequest) -> String? {
        switch call {
        case let call as Call.Undo where call.to != nil:
            "the gallery chooses no folder for originals: use `pipectl undo --to`"
        case let call as Call.Concurrency where call.save == true:
            "the gallery saves no limits: use `pipectl concurrency --save`"
        case let call as Call.Explain where call.file != nil && guardian.token(of: request) != nil:
            "a program with a token asks about a chain, not about a file"
        default: nil
        }
    }

    /// Logs the token's name for a request that changes something, because the daemon knows only the gallery's user.
    func log(_ request: HTTPRequest, _ call: String) {
        guard let token = guardian.token(of: request) else { return }
        Log.notice("the program with the token '\(token.name)' calls \(call)")
    }

    /// Decodes the parameters in the request's body. If that fails, answers the client and returns nil.
    func parameters<Parameters: Decodable>(
        _: Parameters.Type, of request: HTTPRequest, _ client: HTTPCall
    ) -> Parameters? {
        do {
            return try Wire.decode(Parameters.self, request.bytes.isEmpty ? Array("{}".utf8) : request.bytes)
        } catch let error as ControlError {
            client.answer(.failure(.refused(error)))
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
