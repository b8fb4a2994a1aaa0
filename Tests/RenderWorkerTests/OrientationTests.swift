import Testing
import WorkerProtocol

struct OrientationTests {
    /// Returns the pixels that a file with this EXIF orientation stores for an upright picture.
    private static func stored(_ upright: Pixels, _ orientation: Int) -> Pixels {
        let (w, h) = (upright.width, upright.height)
        let isTurned = orientation >= 5
        return Pixels(isTurned ? h : w, isTurned ? w : h) { x, y in
            switch orientation {
            case 2: upright[w - 1 - x, y]
            case 3: upright[w - 1 - x, h - 1 - y]
            case 4: upright[x, h - 1 - y]
            case 5: upright[y, x]
            case 6: upright[w - 1 - y, x]
            case 7: upright[w - 1 - y, h - 1 - x]
            case 8: upright[y, h - 1 - x]
            default: upright[x, y]
            }
        }
    }

    @Test("For every orientation the result is upright, and is not turned twice", arguments: 1...8)
    func upright(orientation: Int) throws {
        let worker = try WorkerProcess()
        let upright = Pixels.colourful(200, 120)
        let source = try Self.stored(upright, orientation).file(.jpeg) {
            $0.set("orientation", orientation)
            return $0
        }
        let chains = [
            "save format=png", "resize scale=0.5 | save format=png",
            "resize scale=0.5 kernel=lanczos3 | save format=png",
            "resize scale=0.5 | noir | save format=png",
        ]
        let header = try worker.open(source, chains[0], chains[1], chains[2], chains[3])
        #expect(header.orientation == orientation)
        let files = try chains.map { _ in try TemporaryFile() }
        _ = try worker.render(into: files[0], files[1], files[2], files[3])

        let plain = try upright.file(.png)
        #expect(try Pixels(files[0]).likeness(upright) > 35)
        for (chain, file) in zip(chains, files).dropFirst() {
            #expect(try Pixels(file).likeness(Pixels(worker.render(plain, chain))) > 33, "\(chain)")
        }
        for file in files {
            let tag = try VipsPicture(file).text("exif-ifd0-Orientation")
            #expect(tag == nil || tag?.hasPrefix("1") == true)
        }
    }
}
