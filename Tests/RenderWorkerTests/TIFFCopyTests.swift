import Testing
import WorkerProtocol

/// Tests TIFFs that contain smaller copies of their picture, after damaging the copies.
struct TIFFCopyTests {
    private static let tileWidth = 322, compression = 259, tileOffsets = 324

    private static let whole = Result {
        try [UInt8](
            VipsTool.run(
                "tiffsave", Pixels.colourful(512, 384).file(.png),
                ["--tile", "--pyramid", "--tile-width=64", "--tile-height=64", "--compression=deflate"], suffix: ".tif"
            ).bytes)
    }

    @Test("If a smaller copy can't be read, the picture itself is read")
    func unreadable() throws {
        let worker = try WorkerProcess()
        let bytes = try Self.whole.get()
        let chains = ["resize scale=0.25", "resize scale=0.25 | noir contrast=0"].map { $0 + " | save format=png" }
        #expect(try worker.open(TemporaryFile(bytes), chains[0]).decoderPaths[0].contains("1/4"))
        let sound = try chains.map { try Pixels(worker.render(TemporaryFile(bytes), $0)) }
        let kinds: [(name: String, change: (inout [UInt8], TIFFEntries) -> Void)] = [
            ("junk", { bytes, copy in copy.fill(&bytes, with: 0x55) }),
            ("compression", { bytes, copy in copy.set(Self.compression, to: 34712, in: &bytes) }),
            ("no tiles", { bytes, copy in copy.set(Self.tileWidth, to: 0, in: &bytes) }),
            ("nowhere", { bytes, copy in copy.set(Self.tileOffsets, to: 0x7fff_ffff, in: &bytes) }),
        ]
        for kind in kinds {
            var damaged = bytes
            for copy in TIFFEntries.all(in: bytes).dropFirst() { kind.change(&damaged, copy) }
            let source = try TemporaryFile(damaged)
            for (chain, sound) in zip(chains, sound) {
                #expect(try Pixels(worker.render(source, chain)).likeness(sound) > 30, "\(kind.name), \(chain)")
            }
            let together = try worker.render(source, chains).map { try Pixels($0) }
            #expect(zip(together, sound).allSatisfy { $0.likeness($1) > 30 }, "\(kind.name)")
        }
    }

    @Test("libtiff's warnings about an unused copy are not blamed for a fault of the picture")
    func reason() throws {
        var damaged = try Self.whole.get()
        let directories = TIFFEntries.all(in: damaged)
        for copy in directories.dropFirst() { copy.set(Self.tileWidth, to: 0, in: &damaged) }
        directories[0].fill(&damaged, with: 0x55)
        let message = try WorkerProcess().failure(TemporaryFile(damaged), "save format=png").message
        #expect(message.contains("Decoding error") && !message.contains("tile width"), "\(message)")
    }
}

/// The entries of the directory of a little-endian TIFF: the offset and the number of each entry's values.
private struct TIFFEntries {
    private var places: [Int: (at: Int, count: Int)] = [:]

    static func all(in bytes: [UInt8]) -> [TIFFEntries] {
        var found: [TIFFEntries] = []
        var start = number(4, 4, bytes)
        while start > 0 {
            var entries = TIFFEntries()
            let count = number(start, 2, bytes)
            for at in (0..<count).map({ start + 2 + 12 * $0 }) {
                entries.places[number(at, 2, bytes)] = (at + 8, number(at + 4, 4, bytes))
            }
            found.append(entries)
            start = number(start + 2 + 12 * count, 4, bytes)
        }
        return found
    }

    func set(_ tag: Int, to value: Int, in bytes: inout [UInt8]) {
        guard let at = places[tag]?.at else { return }
        for index in 0..<4 { bytes[at + index] = UInt8(value >> (8 * index) & 255) }
    }

    /// Overwrites the first bytes of each tile.
    func fill(_ bytes: inout [UInt8], with byte: UInt8) {
        guard let (at, count) = places[324] else { return }
        let list = count == 1 ? at : Self.number(at, 4, bytes)
        for start in (0..<count).map({ Self.number(list + 4 * $0, 4, bytes) }) {
            for index in start..<start + 20 { bytes[index] = byte }
        }
    }

    private static func number(_ at: Int, _ count: Int, _ bytes: [UInt8]) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
    }
}
