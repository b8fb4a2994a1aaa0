import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

extension ControlService {
    func addIgnoredCalls() {
        onOwners(Call.Sift.self) { [self] call, request in
            try check(numberOf: call.names.count, "names")
            let order = try order(recipe: call.recipe, chain: call.chain)
            let recipe =
                order.adHoc
                ? Recipe(name: order.recipe, inbox: "", outbox: "", outputs: [])
                : daemon.configurationInForce.recipe(order.recipe)
            let ignored = call.names.compactMap { name in
                recipe.flatMap { daemon.reasonForLeaving(FileSystem.name(of: name), by: $0) }
                    .map { Control.Ignored(path: name, reason: $0) }
            }
            request.reply(Call.Sift.Reply(ignored: ignored))
        }
        onOwners(Call.ListIgnored.self) { [self] call, request in
            if let name = call.recipe, !isConfigured(name) { throw missing(recipe: name) }
            daemon.ignoredFiles(of: call.recipe) { files in
                let files = files.filter { file in call.after.map { file.path > $0 } ?? true }
                    .sorted { $0.path < $1.path }
                Self.send(Self.shown(files), request)
            }
        }
    }

    /// Maximum number of files in a single reply, and in each reply of a stream.
    private static let (longPage, page) = (500, 100)

    private static func send(_ files: [Control.Ignored], _ request: ControlRequest) {
        guard request.more else {
            return request.reply(
                Call.ListIgnored.Reply(ignored: Array(files.prefix(longPage)), isPart: files.count > longPage))
        }
        request.connection.follow(files[...]) { rest in
            let some = Call.ListIgnored.Reply(ignored: Array(rest.prefix(page)))
            rest = rest.dropFirst(page)
            let frame = ControlRequest.frame(some, continues: !rest.isEmpty)
            return rest.isEmpty ? .last(frame) : .frame(frame)
        }
    }
}
