import FoundationEssentials
import PipelineControl
import PipelineModel
import SystemCalls

extension Option {
    fileprivate static let tokenRole = Option(
        "--role", value: "ROLE", kinds: [.oneOf(["look", "add", "steer"])],
        "with token make: what the program may do; each role includes those before it, and look is the default")
}

extension Verb {
    static let gallery = Verb(
        name: "gallery",
        summary: "the address of the gallery's page; tokens for programs",
        usage: "[token [make NAME [--role ROLE] | revoke NAME]]",
        discussion: [
            "Asks pipelined-gallery, which serves the page at a port if it was started with --listen. The address contains a",
            "code that logs one browser in, once. Anyone who may use the gallery's socket can get another. Without a",
            "port, `ssh -L 8080:/run/pipelined/gallery.sock HOST` brings the page of HOST to http://localhost:8080.",
            "`token make` prints a token, once. A program with the token may use the same routes; it sends the header",
            "`Authorization: Bearer TOKEN`. `look` reads jobs, pictures and events; `add` adds pictures, too; `steer`",
            "also cancels, retries, redoes, undoes, pauses, limits, and makes and removes recipes. `token` lists the tokens. A token is refused from",
            "the moment when it is revoked.",
        ],
        arguments: [
            Argument("token", count: 0...1, kinds: [.oneOf(["token"])], "list, make or revoke the tokens of programs"),
            Argument(
                "make|revoke", count: 0...1, kinds: [.oneOf(["make", "revoke"])], behind: ["token"],
                "make a token, or revoke one"),
            Argument("NAME", count: 0...1, behind: ["token"], "the program that has the token"),
        ],
        options: [.tokenRole],
        examples: [
            Example("pipectl gallery", "print an address, to be opened in a browser of this machine"),
            Example("pipectl gallery --json", "the same as JSON"),
            Example("pipectl gallery token make shop --role add", "let the program `shop` add pictures"),
            Example("pipectl gallery token revoke shop", "revoke its access"),
        ],
        run: { context in try askGallery(context) })

    private static func askGallery(_ context: Context) throws -> ExitCode {
        let words = context.invocation.arguments
        let role = context.invocation.value(.tokenRole)
        let client = GalleryClient(context.address)
        if words.count == 3, words[0] == "token", words[1] == "make" {
            return try makeToken(words[2], role ?? "look", client, context)
        }
        guard role == nil else {
            throw Failure.usage("--role is for a new token: pipectl gallery token make NAME --role ROLE")
        }
        switch (words.first, words.dropFirst().first, words.count) {
        case (nil, _, _): return try showAddress(client, context)
        case ("token", nil, _): return try listTokens(client, context)
        case ("token", "revoke", 3): return try revokeToken(words[2], client, context)
        case ("token", "make", _), ("token", "revoke", _):
            throw Failure.usage("give one NAME\n\(gallery.usageLine)")
        case ("token", let word?, _): throw unexpected(word, among: ["make", "revoke"])
        case (let word?, _, _): throw unexpected(word, among: ["token"])
        }
    }

    private static func unexpected(_ word: String, among known: [String]) -> Failure {
        .usage("unexpected '\(word)'\(didYouMean(word, among: known))\n\(gallery.usageLine)")
    }

    private static func showAddress(_ client: GalleryClient, _ context: Context) throws -> ExitCode {
        let login = try client.ask("POST", "/login", for: Login.self)
        if context.json { try context.output.object(login) } else { try context.output.line("\(login.address)") }
        return .done
    }

    private static func listTokens(_ client: GalleryClient, _ context: Context) throws -> ExitCode {
        let tokens = try client.ask("GET", "/tokens", for: TokenList.self).tokens
        guard !context.json else {
            for token in tokens { try context.output.object(token) }
            return .done
        }
        guard !tokens.isEmpty else {
            try context.output.line("no tokens")
            return .done
        }
        var table = Table([.init(title: "NAME"), .init(title: "ROLE"), .init(title: "MADE")])
        for token in tokens {
            table.add(Text(token.name), Text(token.role), Text(Moment.local(token.made)))
        }
        try context.output.lines(table.lines(width: context.output.columns))
        return .done
    }

    private static func makeToken(
        _ name: String, _ role: String, _ client: GalleryClient, _ context: Context
    ) throws -> ExitCode {
        let made = try client.ask("POST", "/tokens", TokenWish(name: name, role: role), for: Token.self)
        if context.json { try context.output.object(made) } else { try context.output.line("\(made.token ?? "")") }
        return .done
    }

    private static func revokeToken(
        _ name: String, _ client: GalleryClient, _ context: Context
    ) throws -> ExitCode {
        let revoked = try client.ask("POST", "/tokens/revoke", TokenName(name: name), for: Revoked.self)
        if context.json { try context.output.object(revoked) } else { try context.output.line("revoked: \(name)") }
        return .done
    }
}

/// The address at which a browser logs in.
private struct Login: Codable {
    var address: String
}

private struct Token: Codable {
    var name: String
    var role: String
    var made: String
    /// The secret text of the token. The gallery sends it only once, when the token is made; nil in a list of tokens.
    var token: String?
}

private struct TokenList: Decodable {
    var tokens: [Token]
}

private struct TokenWish: Encodable {
    var name: String
    var role: String
}

private struct TokenName: Encodable {
    var name: String
}

private struct Revoked: Codable {
    var revoked: String
}
