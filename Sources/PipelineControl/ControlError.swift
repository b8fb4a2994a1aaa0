/// An error's message is for people; its name is for programs.
extension ControlError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchJob(let id): "there is no job \(id); `pipectl list` shows those there are"
        case .noSuchQueue(let queue, let known):
            "there is no queue '\(queue)'; the queues are \(known.joined(separator: ", "))"
        case .noSuchRecipe(let recipe, let known):
            "there is no recipe '\(recipe)'; the recipes are \(known.joined(separator: ", "))"
        case .badChain(let message, _), .badValue(let message), .refused(let message): message
        case .other(let name, ""): name
        case .interfaceNotFound(let message), .methodNotFound(let message), .methodNotImplemented(let message),
            .invalidParameter(let message), .other(_, let message):
            "\(wire.name): \(message)"
        }
    }
}
