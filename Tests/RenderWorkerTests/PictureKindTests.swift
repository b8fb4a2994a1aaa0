import CVips
import Testing
import WorkerProtocol

struct PictureKindTests {
    /// Chains that render at full size, resized, and by luma alone.
    private static let chains = [
        "save format=png", "resize scale=0.5 | save format=png", "resize scale=0.5 | noir contrast=0 | save format=png",
    ]

    @Test("Every kind of picture looks right: whole, resized, as luma, as one output and as several")
    func looks() throws {
        let worker = try WorkerProcess()
        for kind in PictureKind.all {
            do {
                let (source, look) = try kind.file()
                let half = try Self.half(look).inMemory()
                let expected = try [look, half, Self.luma(half)]
                let alone = try Self.chains.map { try worker.render(source, [$0])[0] }
                let together = try worker.render(source, Self.chains)
                for (index, chain) in Self.chains.enumerated() {
                    for (result, number) in [(alone[index], "one output"), (together[index], "several")] {
                        let distance = try VipsPicture(result).distance(expected[index])
                        let text = distance.map { "off by \($0)" } ?? "of another size or other bands"
                        #expect(
                            (distance ?? 256) <= kind.tolerance, "\(kind.name), '\(chain)', \(number): \(text)")
                    }
                }
            } catch {
                Issue.record("\(kind.name): \(error)")
            }
        }
    }

    private static func half(_ picture: VipsPicture) throws -> VipsPicture {
        guard vips_image_hasalpha(picture.image) != 0 else {
            return try picture.then { cvips_resize($0, $1, 0.5, 0.5, VIPS_KERNEL_LANCZOS3) }
        }
        return try picture.then { cvips_premultiply($0, $1, 255) }
            .then { cvips_resize($0, $1, 0.5, 0.5, VIPS_KERNEL_LANCZOS3) }
            .then { cvips_unpremultiply($0, $1, 255) }
    }

    private static func luma(_ picture: VipsPicture) throws -> VipsPicture {
        picture.image.pointee.Bands < 3 ? picture : try picture.then { cvips_luma($0, $1) }
    }
}
