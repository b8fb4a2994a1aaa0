import DaemonInterface
import DaemonRuntime
import Glibc
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

extension ControlService {
    func addTrying() {
        onPassing(Call.Try.self) { [self] call, passed, request in
            let file = try Self.file(beside: "Try", passed)
            guard FileStatus(try file.status()).kind == .file else {
                throw ControlError.badValue("'\(call.name.prefix(200))' is not a file that can be read")
            }
            Coordination.async { [self] in
                do throws(ControlError) {
                    try begin(call, file, request)
                } catch {
                    request.fail(error)
                }
            }
        }
    }
}

@Coordination
extension ControlService {
    private func begin(_ call: Call.Try, _ file: Descriptor, _ request: ControlRequest) throws(ControlError) {
        guard !daemon.isStopping else { throw .refused("the daemon is stopping; try again when it is back") }
        let wish = try wish(call, file)
        let size = (try? file.status()).map { Int($0.st_size) } ?? 0
        let withdraw = daemon.tryChains(wish) { outcome in
            if let problem = outcome.problem { return request.fail(ControlError.refused(problem)) }
            let before = outcome.before.map {
                Control.Picture(
                    format: $0.format, width: $0.width, height: $0.height, bytes: size, pages: $0.pages)
            }
            request.reply(
                Call.Try.Reply(
                    before: before,
                    proofs: outcome.made.map { $0.shown(wish.candidates[$0.candidate], isSmall: wish.sheet != nil) },
                    sheet: outcome.sheet?.output.shown),
                beside: outcome.sheet.map { [$0.file] } ?? outcome.made.compactMap(\.file))
        }
        request.connection.whenAbandoned { Coordination.async(withdraw) }
    }

    private func wish(_ call: Call.Try, _ file: Descriptor) throws(ControlError) -> TrialWish {
        if let sheet = call.sheet, !["jpeg", "png", "webp"].contains(sheet) {
            throw .badValue("a sheet is a jpeg, a png or a webp, not '\(sheet.prefix(50))'")
        }
        var orders: [(recipe: String?, order: WorkOrder)] = []
        for recipe in call.recipes { orders.append((recipe, try order(recipe: recipe, chain: nil))) }
        for chain in call.chains { orders.append((nil, try order(recipe: nil, chain: chain, raw: call.raw))) }
        guard call.raw == nil || !call.chains.isEmpty else {
            throw .badValue("raw goes with a chain; a recipe has Raw=")
        }
        if orders.isEmpty {
            let order = try order(recipe: nil, chain: nil)
            orders.append((order.recipe, order))
        }
        let candidates = orders.map { recipe, order in
            TrialCandidate(
                recipe: recipe, order: order,
                pictures: Planner.plan(outputs: order.outputs, inBatch: false).segments.first ?? [])
        }
        let results = candidates.reduce(0) { $0 + $1.pictures.count }
        guard results <= ControlInterface.mostProofs else {
            throw .badValue("Try makes at most \(ControlInterface.mostProofs) results at once; these are \(results)")
        }
        return TrialWish(
            name: FileSystem.name(of: call.name), source: file, candidates: candidates, sheet: call.sheet,
            edge: ControlInterface.sheetEdge, captions: candidates.flatMap(\.captions))
    }
}

extension TrialCandidate {
    /// Captions for the results on a sheet: the recipe and the output, or the chain.
    fileprivate var captions: [String] {
        pictures.map { picture in
            guard let recipe else { return String(order.chain(of: picture).prefix(200)) }
            return recipe + (picture.name.map { ", \($0)" } ?? "")
        }
    }
}

extension TrialResult {
    /// The small picture on a sheet does not have the format of the actual result. So the result's suffix is unknown,
    /// unless the chain sets the format.
    fileprivate func shown(_ candidate: TrialCandidate, isSmall: Bool) -> Control.Proof {
        Control.Proof(
            recipe: candidate.recipe, output: picture.name, chain: candidate.order.chain(of: picture),
            suffix: picture.suffix ?? (isSmall ? nil : output.map { RenderedOutput.suffix(of: $0.format) }),
            picture: file == nil ? nil : output?.shown, decode: decode,
            milliseconds: milliseconds, problem: problem)
    }
}

extension RenderedOutput {
    fileprivate var shown: Control.Picture {
        Control.Picture(format: format, width: width, height: height, bytes: Int(bytes), pages: pages)
    }
}

extension WorkOrder {
    /// The chain that makes the picture, as the user wrote it. For the picture of a tee, the chain that contains the
    /// tee.
    fileprivate func chain(of picture: PlannedPicture) -> String {
        let output = outputs.first { $0.name == picture.name || $0.chain.tees.contains { $0 == picture.name } }
        return (output ?? outputs.first)?.chain.text ?? ""
    }
}
