import PipelineControl
import ServiceProgram

/// Makes, lists and revokes the tokens of programs.
extension GallerySite {
    func tokens(_ request: HTTPRequest, _ word: String?) -> HTTPRoute {
        switch word {
        case nil: request.isReading ? .plain(listTokens) : posting(request, makeToken)
        case "revoke": posting(request, revokeToken)
        default: .refused(.failure(404, "there is nothing at \(request.path.prefix(80))"))
        }
    }

    private func listTokens(_ request: HTTPRequest, _ client: HTTPCall) {
        let tokens = guardian.tokens?.all ?? []
        client.answer(.json(["tokens": tokens.map { ShownToken($0, withSecret: false) }]))
    }

    private func makeToken(_ request: HTTPRequest, _ client: HTTPCall) {
        guard let wish = parameters(TokenWish.self, of: request, client) else { return }
        guard let role = Role(rawValue: wish.role) else {
            let roles = Role.allCases.map(\.rawValue).joined(separator: ", ")
            return client.answer(.failure(400, "a role is one of \(roles), not '\(wish.role.prefix(40))'"))
        }
        do throws(Tokens.Refusal) {
            guard let token = try guardian.tokens?.make(wish.name, role) else { return }
            Log.notice("the token '\(token.name)' may \(role.rawValue)")
            client.answer(.json(ShownToken(token, withSecret: true)))
        } catch {
            client.answer(.failure(error))
        }
    }

    private func revokeToken(_ request: HTTPRequest, _ client: HTTPCall) {
        guard let wish = parameters(TokenName.self, of: request, client) else { return }
        do throws(Tokens.Refusal) {
            try guardian.tokens?.revoke(wish.name)
            Log.notice("the token '\(wish.name)' is revoked")
            client.answer(.json(["revoked": wish.name]))
        } catch {
            client.answer(.failure(error))
        }
    }
}

private struct TokenWish: Decodable {
    var name: String
    var role: String
}

private struct TokenName: Decodable {
    var name: String
}

/// A token as clients see it. Its secret is shown once, when it is made.
private struct ShownToken: Encodable {
    var name: String
    var role: String
    var made: String
    var token: String?

    init(_ token: Tokens.Token, withSecret: Bool) {
        (name, role, made) = (token.name, token.role.rawValue, Timestamp.text(token.made))
        self.token = withSecret ? token.secret : nil
    }
}
