import PipelineModel
import SystemCalls
import WorkerConfinement

/// A trait lets the host take a shortcut to the same result, or requests something from the host. Most checks compare
/// pictures made with and without the trait, over the range of every parameter.
extension Conformance {
    func lumaOnly() throws -> String {
        try claim(.lumaOnly)
        return try each { changes in
            var compared = 0
            for (bands, is16Bit) in [(3, false), (4, false), (3, true)] {
                let source = try Specimen(96, 64, bands: bands, is16Bit: is16Bit).file()
                guard let honoured = try? render(source, changes) else { continue }
                let own = try render(source, changes, in: process(without: .lumaOnly))
                guard let distance = honoured.coloured.distance(own.coloured), distance <= Self.roundings else {
                    throw FilterTrouble(
                        "with \(bands) bands of \(is16Bit ? 16 : 8) bits, its result differs from the result for their luma: it "
                            + "is not luma only, unless it converts colours to luma itself")
                }
                compared += 1
            }
            return compared
        }
    }

    /// Maximum mean difference of the samples, on a scale of 255. The limit is not 0, because luma is rounded before
    /// the filter runs, and a steep filter amplifies the rounding in places.
    private static let roundings = 2.0

    func pointwise() throws -> String {
        try claim(.pointwise)
        return try each { changes in
            var compared = 0
            for (bands, is16Bit) in kinds(changes) {
                let specimen = Specimen(96, 64, bands: bands, is16Bit: is16Bit)
                // Shuffling gives the pixels other positions and neighbours. Leaving out half of the pixels exposes
                // filters that measure the whole picture.
                guard let straight = try? render(specimen.file(), changes, in: processApart()) else { continue }
                let some = try render(specimen.upperHalf.shuffled.file(), changes, in: processApart())
                guard straight.upperHalf.shuffled == some else {
                    throw FilterTrouble(
                        "a pixel's result depends on its place or neighbours (with \(bands) bands): it is not pointwise"
                    )
                }
                compared += 1
            }
            return compared
        }
    }

    func curve() throws -> String {
        try claim(.curve)
        return try each { changes in
            var compared = 0
            for (bands, is16Bit) in kinds(changes) {
                let source = try Specimen(256, 64, bands: bands, is16Bit: is16Bit).file()
                guard let table = try? render(source, changes) else { continue }
                let own = try render(source, changes, in: processApart())
                guard let difference = table.difference(own), difference <= 1 else {
                    throw FilterTrouble(
                        "with \(bands) bands of \(is16Bit ? 16 : 8) bits, its lookup table differs from the filter itself "
                            + (table.difference(own).map { "by \($0) levels" } ?? "in size, bands or depth")
                            + ": it is not a curve")
                }
                compared += 1
            }
            return compared
        }
    }

    func changesSize() throws -> String {
        try claim(.changesSize)
        let pictures = [Specimen(64, 48), Specimen(31, 77)]
        let sources = try pictures.map { try $0.file() }
        let seen = variations.lazy.compactMap { changes in
            zip(pictures, sources).lazy.compactMap { picture, source -> String? in
                guard let result = try? self.render(source, changes),
                    (result.width, result.height) != (picture.width, picture.height)
                else { return nil }
                return "\(picture.width) × \(picture.height) becomes \(result.width) × \(result.height)"
            }.first
        }.first
        guard let seen else {
            throw FilterTrouble(
                "with none of the tested values it changes the size: leave the trait out, or give others")
        }
        return seen
    }

    func drawsText() throws -> String {
        try claim(.drawsText)
        let withdrawn = try process(without: .drawsText)
        guard !withdrawn.missing.contains(where: { $0.hasPrefix(Confinement.landlock) }) else {
            throw LeftOut(reason: "without Landlock, fonts can't be denied")
        }
        return try needed(
            withdrawn, specimen.file(), "fonts are read",
            else: "its result is the same without fonts: leave the trait out, or give values with which it draws text")
    }

    func wholePicture() throws -> String {
        try claim(.wholePicture)
        // libvips keeps a limited number of rows in memory behind the current row. The picture has more rows than this
        // limit, and is so wide that a slanted line through it also crosses more rows than the limit.
        let large = try specimen.file(across: 4, down: 8)
        return try needed(
            process(without: .wholePicture), large, "it needs more than rows in order",
            else: "its result is the same for a picture that comes row by row: leave the trait out, which costs memory")
    }

    /// Tests grey pictures, because the host moves the luma of grey pictures itself.
    func movesPixels() throws -> String {
        try claim(.movesPixels)
        return try each { changes in
            var compared = 0
            for picture in [Specimen(96, 64, bands: 1), Specimen(31, 77, bands: 1)] {
                let source = try picture.file()
                guard let own = try? render(source, changes, in: process(without: .movesPixels)) else { continue }
                guard try render(source, changes) == own else {
                    throw FilterTrouble(
                        "'arrange' and 'apply' disagree about a picture of \(picture.width) × \(picture.height)")
                }
                compared += 1
            }
            return compared
        }
    }

    // MARK: - Tools of the checks

    private func claim(_ trait: StageTrait) throws {
        guard filter.traits.contains(trait) else { throw LeftOut(reason: "it does not declare this trait") }
    }

    /// Checks that the filter needs a trait. The worker `withdrawn` ignores that trait. Passes if, for at least one
    /// variation, this worker fails, or makes another picture than a worker that honours the trait.
    private func needed(
        _ withdrawn: FilterProcess, _ source: Descriptor, _ note: String, else trouble: String
    ) throws -> String {
        for changes in variations {
            guard let honoured = try? bytes(source, changes, in: process()) else { continue }
            guard withdrawn.isAlive, let own = try? bytes(source, changes, in: withdrawn), own == honoured else {
                return note
            }
        }
        throw FilterTrouble(trouble)
    }

    /// Runs a check with the given values, then with each variation. The check returns how many pictures it compared;
    /// an error names the values that caused it. Pictures that can't be made are skipped, because other checks report
    /// them.
    private func each(_ check: ([String: String]) throws -> Int) throws -> String {
        var sets = 0
        for changes in variations {
            do {
                if try check(changes) > 0 { sets += 1 }
            } catch {
                let values = changes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
                throw FilterTrouble(values.isEmpty ? "\(error)" : "\(values): \(error)")
            }
        }
        guard sets > 0 else { throw FilterTrouble("no picture was made, so none was compared") }
        return sets == 1 ? "the same without the trait" : "the same without the trait, with \(sets) sets of values"
    }

    /// Kinds of pictures to test: all kinds for the given values, and two kinds for each variation.
    private func kinds(_ changes: [String: String]) -> [(bands: Int, is16Bit: Bool)] {
        changes.isEmpty
            ? [(1, false), (2, false), (3, false), (4, false), (1, true), (2, true), (3, true), (4, true)]
            : [(3, false), (4, true)]
    }

    /// Sets of values to test: the given values; each parameter alone at each of its boundary values; all parameters at
    /// their first boundary; and all at their last. Omits sets that the host refuses.
    private var variations: [[String: String]] {
        var sets: [[String: String]] = [[:]]
        var (first, last): ([String: String], [String: String]) = ([:], [:])
        for parameter in filter.parameters {
            let values = parameter.type == .text ? ["Ag"] : parameter.ends
            for value in values { sets.append([parameter.name: value]) }
            guard parameter.type != .text else { continue }
            first[parameter.name] = values.first
            last[parameter.name] = values.last
        }
        if !first.isEmpty { sets += [first, last] }
        return sets.filter(chain.isAccepted)
    }
}

extension Specimen {
    fileprivate var upperHalf: Specimen {
        var half = self
        half.height = height / 2
        half.samples = Array(samples.prefix(width * half.height * bands))
        return half
    }

    /// The picture with three colour bands: a grey picture gets three copies of its grey band, and a colour picture
    /// stays as it is.
    fileprivate var coloured: Specimen {
        guard bands < 3 else { return self }
        var result = self
        result.bands = bands + 2
        result.samples = []
        for start in stride(from: 0, to: samples.count, by: bands) {
            let grey = samples[start]
            result.samples += [grey, grey, grey]
            result.samples += samples[(start + 1)..<(start + bands)]
        }
        return result
    }

    /// Mean difference of the samples, on a scale of 255; nil when the pictures differ in size, bands or depth.
    fileprivate func distance(_ other: Specimen) -> Double? {
        guard width == other.width, height == other.height, bands == other.bands, is16Bit == other.is16Bit else {
            return nil
        }
        var sum = 0
        for index in samples.indices { sum += abs(Int(samples[index]) - Int(other.samples[index])) }
        return Double(sum) / Double(max(1, samples.count)) / (is16Bit ? 257 : 1)
    }
}
