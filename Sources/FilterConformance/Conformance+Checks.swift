import PipelineModel
import SystemCalls

extension Conformance {
    static let checks = [
        Check(name: "one pixel") { try $0.sizes([(1, 1)]) },
        Check(name: "odd sizes") { try $0.sizes([(7, 5), (1, 99), (333, 1), (2, 3)]) },
        Check(name: "one band") { try $0.kinds(bands: 1) },
        Check(name: "bands, interpretation") { try $0.bands() },
        Check(name: "alpha") { try $0.alpha() },
        Check(name: "16 bit") { try $0.wide() },
        Check(name: "CMYK") { try $0.inks() },
        Check(name: "every parameter's ends") { try $0.parameters() },
        Check(name: "twice in a chain") { try $0.twice() },
        Check(name: "again and again") { try $0.again() },
        Check(name: "a huge picture") { try $0.huge() },
        Check(name: "cancelled in the middle") { try $0.cancelled() },
        Check(name: "luma only, as it says") { try $0.lumaOnly() },
        Check(name: "pointwise, as it says") { try $0.pointwise() },
        Check(name: "a curve, as it says") { try $0.curve() },
        Check(name: "changes size, as it says") { try $0.changesSize() },
        Check(name: "draws text, as it says") { try $0.drawsText() },
        Check(name: "whole picture, as asked") { try $0.wholePicture() },
        Check(name: "moves pixels, as it says") { try $0.movesPixels() },
    ]

    private func sizes(_ sizes: [(Int, Int)]) throws -> String {
        for (width, height) in sizes {
            for bands in 1...4 {
                do {
                    _ = try render(Specimen(width, height, bands: bands).file())
                } catch {
                    throw FilterTrouble("\(width) × \(height) of \(bands) bands: \(error)")
                }
            }
        }
        return sizes.map { "\($0.0) × \($0.1)" }.joined(separator: ", ")
    }

    private func kinds(bands: Int) throws -> String {
        let result = try render(Specimen(64, 48, bands: bands).file())
        return "becomes \(result.bands)"
    }

    /// Rendering is enough here: the worker itself refuses a wrong number of bands and a wrong interpretation.
    private func bands() throws -> String {
        try [false, true].map { is16Bit in
            try (1...4).map { bands in
                do {
                    return "\(bands) → \(try render(Specimen(64, 48, bands: bands, is16Bit: is16Bit).file()).bands)"
                } catch {
                    throw FilterTrouble("with \(bands) bands of \(is16Bit ? 16 : 8) bits: \(error)")
                }
            }.joined(separator: ", ")
        }.first ?? ""
    }

    private func alpha() throws -> String {
        for bands in [2, 4] {
            let result = try render(Specimen(64, 48, bands: bands).file())
            guard result.hasAlpha else {
                throw FilterTrouble("\(bands) bands became \(result.bands): the result must have alpha")
            }
        }
        return "stays"
    }

    private func wide() throws -> String {
        let narrow = try render(Specimen(64, 48).file())
        let wide = try render(Specimen(64, 48, is16Bit: true).file())
        guard wide.is16Bit else { throw FilterTrouble("the result has 8 bits per sample") }
        guard abs(wide.mean - narrow.mean) <= 3 else {
            throw FilterTrouble(
                "on a scale of 255, the mean is \(Int(wide.mean)) with 16 bits, and \(Int(narrow.mean)) with 8: "
                    + "with 16 bits, constants for samples must be on a scale of 65535")
        }
        return "as with 8 bits"
    }

    private func inks() throws -> String {
        _ = try render(Specimen(64, 48, bands: 4).fileOfInks())
        return "comes as sRGB"
    }

    private func parameters() throws -> String {
        let source = try Specimen(64, 48).file()
        var count = 0
        for parameter in filter.parameters {
            for value in parameter.ends where chain.isAccepted([parameter.name: value]) {
                do {
                    _ = try render(source, [parameter.name: value])
                } catch {
                    throw FilterTrouble("\(parameter.name)=\(value): \(error)")
                }
                count += 1
            }
        }
        guard count > 0 else { throw LeftOut(reason: "no parameter has boundary values") }
        return "\(count) values"
    }

    private func twice() throws -> String {
        _ = try render(Specimen(64, 48).file(), times: 2)
        return "two stages"
    }

    // MARK: - Over time

    private static let rounds = 40
    /// Maximum growth of a worker's memory, in bytes, over the last three quarters of the rounds. The limit is about
    /// half a picture's size per round.
    private static let mostGrowth = 10 << 20

    private func again() throws -> String {
        let source = try specimen.file()
        let process = try process()
        let first = try bytes(source, in: process)
        var (memory, descriptors) = (0, 0)
        for round in 1...Self.rounds {
            guard try bytes(source, in: process) == first else {
                throw FilterTrouble("the same picture and values gave another result in render \(round + 1)")
            }
            // By now the worker has allocated all its buffers.
            if round == Self.rounds / 4 { (memory, descriptors) = (process.memory.now, process.descriptors) }
        }
        let growth = process.memory.now - memory
        guard growth < Self.mostGrowth else {
            throw FilterTrouble(
                "its worker grew by \(growth >> 20) MB over \(Self.rounds * 3 / 4) pictures of 500 × 400: something is not "
                    + "released")
        }
        guard process.descriptors <= descriptors else {
            throw FilterTrouble("\(process.descriptors - descriptors) more files are open than before")
        }
        return "\(Self.rounds) times the same, and \(max(0, growth >> 20)) MB more"
    }

    private func huge() throws -> String {
        // Start a fresh worker, so that this picture alone causes its memory peak.
        let process = try start()
        let begun = ContinuousClock.now
        let target = try Descriptor.memory([])
        _ = try process.render(try hugePicture.get(), try chain.stages(format: "jpeg"), into: target)
        let time = ContinuousClock.now - begun
        return "6000 × 4000, \(Int(time / .milliseconds(1))) ms, at most \(process.memory.most >> 20) MB"
    }

    private static let grace = Duration.seconds(5)

    private func cancelled() throws -> String {
        let process = try process()
        var times: [Int] = []
        for moment in [FilterProcess.Moment.applying, .applied] {
            let time = try process.cancel(
                try hugePicture.get(), try chain.stages(format: "jpeg"), into: Descriptor.memory([]), when: moment)
            guard time < Self.grace else {
                throw FilterTrouble(
                    "it continued for \(Int(time / .seconds(1))) s: check host->cancelled during long work")
            }
            times.append(Int(time / .milliseconds(1)))
        }
        _ = try render(Specimen(64, 48).file(), in: process)
        return "\(times[0]) ms during apply, \(times[1]) ms after it"
    }
}

extension ParameterDescription {
    /// Boundary values, because a filter's mistakes are most likely to show there.
    var ends: [String] {
        switch type {
        case .number, .integer: [minimum, maximum].compactMap(\.self).map { type == .integer ? "\(Int($0))" : "\($0)" }
        case .boolean: ["no", "yes"]
        case .choice: choices
        case .colour: ["#000000", "#ffffff", "#12ab9f"]
        case .text, .file: []
        }
    }
}
