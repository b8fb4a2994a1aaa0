import Foundation
import PipelineModel
import SystemCalls

/// Checks one filter in worker processes, and replaces each worker that the filter crashes.
final class Conformance {
    struct Check: Sendable {
        var name: String
        /// Returns an observation if the check passes. Otherwise throws a complaint, or `LeftOut`.
        var run: @Sendable (Conformance) throws -> String
    }

    /// Thrown if the check does not apply to the filter, for example because the filter does not declare the trait.
    struct LeftOut: Error {
        var reason: String
    }

    let chain: FilterChain
    let plugin: String
    let arguments: Arguments
    private var joining: FilterProcess?
    private var apart: FilterProcess?
    private var withdrawn: [StageTrait: FilterProcess] = [:]
    private let hang: FilterProcess.Hang
    private(set) lazy var specimen = Specimen(500, 400)
    /// A JPEG of 6000 × 4000 pixels.
    private(set) lazy var hugePicture = Result { try specimen.file(across: 12, down: 10) }

    init(plugin: String, arguments: Arguments, chain: FilterChain, process: FilterProcess) {
        (self.plugin, self.arguments, self.chain, joining) = (plugin, arguments, chain, process)
        hang = process.hang
    }

    /// Whether the filter has hung. The checks then stop, because each further check would also run into the timeout.
    var hasHung: Bool { hang.isSeen }

    /// Starts a worker. Throws if the filter has hung, so that the check tries no further picture.
    func start(joins: Bool = true, without trait: StageTrait? = nil) throws -> FilterProcess {
        guard !hasHung else { throw FilterTrouble("it hangs") }
        return try FilterProcess(plugin, arguments, joins: joins, without: trait, hang: hang)
    }

    var filter: StageDescription { chain.filter }

    func result(of check: Check) -> ConformanceReport.Result {
        do {
            return .init(check: check.name, outcome: .passed, note: try check.run(self))
        } catch let leftOut as LeftOut {
            return .init(check: check.name, outcome: .leftOut, note: leftOut.reason)
        } catch {
            return .init(check: check.name, outcome: .failed, note: "\(error)")
        }
    }

    /// A worker that joins filters into lookup tables and honours all traits, as the daemon's workers do.
    func process() throws -> FilterProcess {
        if let joining, joining.isAlive { return joining }
        let new = try start()
        joining = new
        return new
    }

    /// A worker that doesn't join filters into lookup tables.
    func processApart() throws -> FilterProcess {
        if let apart, apart.isAlive { return apart }
        let new = try start(joins: false)
        apart = new
        return new
    }

    func process(without trait: StageTrait) throws -> FilterProcess {
        if let process = withdrawn[trait], process.isAlive { return process }
        // The trait `lumaOnly` decides whether a lookup table applies to luma or to each band. So compare without
        // tables.
        let new = try start(joins: trait != .lumaOnly, without: trait)
        withdrawn[trait] = new
        return new
    }

    func render(
        _ source: Descriptor, _ changes: [String: String] = [:], times: Int = 1, in process: FilterProcess? = nil
    ) throws -> Specimen {
        let target = try Descriptor.memory([])
        _ = try (process ?? self.process()).render(source, try chain.stages(changes, times: times), into: target)
        return try Specimen(target)
    }

    /// Renders a picture and returns the result's file.
    func bytes(
        _ source: Descriptor, _ changes: [String: String] = [:], in process: FilterProcess
    ) throws -> [UInt8] {
        let target = try Descriptor.memory([])
        _ = try process.render(source, try chain.stages(changes), into: target)
        let file = FileHandle(fileDescriptor: target.number, closeOnDealloc: false)
        try file.seek(toOffset: 0)
        return Array(try file.readToEnd() ?? Data())
    }
}
