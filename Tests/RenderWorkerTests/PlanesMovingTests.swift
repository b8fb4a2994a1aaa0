import Testing
import WorkerProtocol

/// Tests filters that only move pixels. If a picture is in planes, such filters move the samples of each plane.
/// Compares the results with the results of libvips' plain path.
struct PlanesMovingTests {
    private static let chains = [
        "flip", "flip direction=vertical", "rotate angle=90", "rotate angle=180", "rotate angle=270",
        "crop ratio=3:2 position=top-left", "crop width=101 height=77 position=bottom-right",
        "border width=6 unit=px colour=#204080", "border width=5 unit=px colour=#ff0000",
        "flip | rotate angle=90 | crop ratio=1:1 position=left | border width=4 unit=px",
        "rotate | crop width=90 height=61 position=top-right | flip | rotate angle=270", "flip | fade",
        "crop width=100 position=attention | rotate", "border width=8 unit=px | flip", "flip | noir | rotate",
        "noir | crop ratio=1:1 | border width=5 unit=px colour=#303030", "mono | border colour=#ff0000",
    ]

    @Test("Moved planes are as close to the picture as moved pixels, in any orientation", arguments: 1...8)
    func likeness(orientation: Int) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(400, 240), (403, 241)] {
            let source = try Pixels.colourful(width, height).file(.jpeg) {
                $0.set("orientation", orientation)
                return $0
            }
            for chain in Self.chains {
                for save in ["save quality=100", "save quality=89", "save format=png"] {
                    let planes = try Pixels(worker.render(source, "resize width=150 | \(chain) | \(save)"))
                    let plain = try Pixels(
                        worker.render(source, "resize width=150 kernel=lanczos3 | \(chain) | \(save)"))
                    #expect(planes.likeness(plain) >= 34, "\(width), \(chain), \(save): \(planes.likeness(plain))")
                }
            }
        }
    }

    @Test("Colours stay aligned with luma wherever a picture is cut or turned")
    func place() throws {
        let worker = try WorkerProcess()
        let source = try Pixels(1003, 701) { x, y in (x < 501) != (y < 351) ? [190, 60, 60] : [70, 200, 220] }
            .file(.jpeg)
        for chain in ["flip", "rotate angle=90", "crop width=201 height=151 position=left"] {
            let (planes, plain) = try (
                Pixels(worker.render(source, "resize width=333 | \(chain) | save quality=89")),
                Pixels(worker.render(source, "resize width=333 kernel=lanczos3 | \(chain) | save quality=89"))
            )
            let row = plain.height / 4
            #expect(abs(planes.shift(inRow: row) - plain.shift(inRow: row)) < 0.1, "\(chain)")
        }
    }

    @Test("Grey planes are moved without any change, and become pixels before they get a coloured frame")
    func grey() throws {
        let worker = try WorkerProcess()
        let source = Pixels(33, 21) { x, y in [(x * 7 + y * 5) % 256] }
        let file = try source.file(.png)
        func made(_ chain: String) throws -> Pixels { try Pixels(worker.render(file, "\(chain) | save format=png")) }
        #expect(try worker.open(file, "flip | save format=png").decoderPaths[0].hasPrefix("png, greyscale, whole"))
        #expect(try made("flip") == Pixels(33, 21) { x, y in source[32 - x, y] })
        #expect(try made("rotate angle=90") == Pixels(21, 33) { x, y in source[y, 20 - x] })
        #expect(try made("rotate angle=270 | flip") == Pixels(21, 33) { x, y in source[32 - y, 20 - x] })
        #expect(try made("crop width=10 height=7 position=bottom-right") == Pixels(10, 7) { source[$0 + 23, $1 + 14] })
        #expect(try made("border width=1 unit=px colour=#404040")[0, 0] == [64])
        #expect(try made("border width=1 unit=px colour=#ff0000")[0, 0] == [255, 0, 0])
        #expect(try made("border width=1 unit=px colour=#ff0000 | mono")[0, 0] == [76])
        #expect(try made("noir | border width=1 unit=px colour=#404040")[0, 0] == [64])
        #expect(try made("noir | flip") == made("flip | noir"))
        #expect(try made("mono | rotate | border width=2 unit=px | flip").width == 25)
    }

    @Test("A JPEG that is only moved is decoded as planes, at full size too")
    func wholeSize() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(401, 301).file(.jpeg)
        for chain in ["flip", "crop ratio=1:1", "rotate | crop width=100 position=top", "border width=10 unit=px"] {
            let path = try worker.open(source, "\(chain) | save").decoderPaths[0]
            #expect(path.hasPrefix("jpeg, planes, whole"), "\(chain): \(path)")
            let (made, upright) = try (
                Pixels(worker.render(source, "\(chain) | save quality=85")),
                Pixels(worker.render(source, "resize scale=1 kernel=lanczos3 | \(chain) | save quality=85"))
            )
            #expect(made.likeness(upright) >= 38, "\(chain): \(made.likeness(upright))")
        }
        let path = try worker.open(source, "crop width=100 position=attention | save").decoderPaths[0]
        #expect(!path.contains("planes"), "\(path)")
    }
}
