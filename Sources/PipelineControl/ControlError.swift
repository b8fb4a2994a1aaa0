/// The errors of the interface. What they say is for people; `name` is for programs.
public enum ControlError: Error, Sendable, Hashable {
    case noSuchJob(Int)
    case noSuchQueue(String, known: [String])
    case noSuchRecipe(String, known: [String])
    case badChain(message: String, column: Int)
    case badValue(String)
    case refused(String)
    /// One of `org.varlink.service`'s own, or one that this version does not know.
    case other(name: String, message: String)
}

extension ControlError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchJob(let id): "there is no job \(id); `pipectl list` shows those there are"
        case .noSuchQueue(let queue, let known):
            "there is no queue '\(queue)'; the queues are \(known.joined(separator: ", "))"
        case .noSuchRecipe(let recipe, let known):
            "there is no recipe '\(recipe)'; the recipes are \(known.joined(separator: ", "))"
        case .badChain(let message, _), .badValue(let message), .refused(let message): message
        case .other(let name, let message): message.isEmpty ? name : "\(name): \(message)"
        }
    }
}

/// How an error travels: its qualified name, and parameters of its own.
public struct ErrorParameters: Codable, Sendable {
    public var id: Int?
    public var queue: String?
    public var queues: [String]?
    public var recipe: String?
    public var recipes: [String]?
    public var message: String?
    public var column: Int?
    public var method: String?
    public var parameter: String?
    public var interface: String?

    public init() {}
}

extension ControlError {
    public var wire: (name: String, parameters: ErrorParameters) {
        var parameters = ErrorParameters()
        func own(_ name: String) -> String { "\(ControlInterface.name).\(name)" }
        switch self {
        case .noSuchJob(let id):
            parameters.id = id
            return (own("NoSuchJob"), parameters)
        case .noSuchQueue(let queue, let known):
            parameters.queue = queue
            parameters.queues = known
            return (own("NoSuchQueue"), parameters)
        case .noSuchRecipe(let recipe, let known):
            parameters.recipe = recipe
            parameters.recipes = known
            return (own("NoSuchRecipe"), parameters)
        case .badChain(let message, let column):
            parameters.message = message
            parameters.column = column
            return (own("BadChain"), parameters)
        case .badValue(let message):
            parameters.message = message
            return (own("BadValue"), parameters)
        case .refused(let message):
            parameters.message = message
            return (own("Refused"), parameters)
        case .other(let name, let message):
            switch name {
            case "org.varlink.service.MethodNotFound": parameters.method = message
            case "org.varlink.service.InterfaceNotFound": parameters.interface = message
            case "org.varlink.service.InvalidParameter": parameters.parameter = message
            default: parameters.message = message
            }
            return (name, parameters)
        }
    }

    public init(name: String, parameters: ErrorParameters) {
        let prefix = ControlInterface.name + "."
        switch name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name {
        case "NoSuchJob": self = .noSuchJob(parameters.id ?? 0)
        case "NoSuchQueue": self = .noSuchQueue(parameters.queue ?? "", known: parameters.queues ?? [])
        case "NoSuchRecipe": self = .noSuchRecipe(parameters.recipe ?? "", known: parameters.recipes ?? [])
        case "BadChain": self = .badChain(message: parameters.message ?? "", column: parameters.column ?? 0)
        case "BadValue": self = .badValue(parameters.message ?? "")
        case "Refused": self = .refused(parameters.message ?? "")
        default:
            self = .other(
                name: name,
                message: parameters.message ?? parameters.method ?? parameters.parameter ?? parameters.interface ?? "")
        }
    }
}
