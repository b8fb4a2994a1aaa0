import PipelineModel
import Testing
import WorkerProtocol

struct ResizeTests {
    @Test(
        "The result has the requested size",
        arguments: [
            ("scale=0.5", 401, 301, 200, 150), ("scale=0.001", 401, 301, 1, 1), ("scale=1.5", 40, 30, 60, 45),
            ("width=200", 401, 301, 200, 150), ("height=100", 401, 301, 133, 100),
            ("edge=100", 400, 300, 100, 75), ("edge=100", 300, 400, 75, 100), ("edge=500", 401, 301, 401, 301),
            ("width=800 height=600", 401, 301, 401, 301), ("width=100 height=200", 400, 300, 100, 75),
            ("width=100 height=100 fit=cover", 401, 301, 100, 100),
            ("width=500 height=100 fit=cover", 401, 301, 500, 100),
            ("width=77 height=123 fit=exact", 401, 301, 77, 123), ("scale=0.5 kernel=nearest", 401, 301, 200, 150),
            ("width=1 height=1 fit=exact", 3, 1, 1, 1), ("scale=0.3", 1, 1, 1, 1), ("scale=0.25", 2003, 1999, 501, 500),
        ])
    func sizes(size: String, width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(width, height)
        for source in [try pixels.file(.png), try pixels.file(.jpeg)] {
            _ = try worker.open(source, "resize \(size)", "resize \(size) | noir")
            let results = try worker.render(into: TemporaryFile(), TemporaryFile())
            #expect(results.map(\.width) == [newWidth, newWidth] && results.map(\.height) == [newHeight, newHeight])
        }
    }

    @Test("Cover crops to the middle")
    func cover() throws {
        let worker = try WorkerProcess()
        let stripes = Pixels(300, 100) { x, _ in x / 100 == 1 ? [255, 0, 0] : [0, 0, 255] }
        let result = try Pixels(
            worker.render(stripes.file(.png), "resize width=50 height=50 fit=cover kernel=nearest | save format=png"))
        #expect(result[3, 25] == [255, 0, 0] && result[46, 25] == [255, 0, 0])
    }

    @Test("Transparent pixels do not bleed into opaque ones")
    func alpha() throws {
        let worker = try WorkerProcess()
        let half = Pixels(80, 80) { x, _ in x < 39 ? [200, 0, 0, 255] : [0, 255, 0, 0] }
        let result = try Pixels(worker.render(half.file(.png), "resize scale=0.3 | save format=png"))
        let edge = (0..<24).map { result[$0, 12] }.filter { $0[3] > 20 && $0[3] < 235 }
        #expect(!edge.isEmpty && edge.allSatisfy { $0[0] > 180 && $0[1] < 20 })
    }

    @Test("Several outputs of one picture are each read from the beginning")
    func severalOutputs() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(600, 400).file(.png)
        _ = try worker.open(source, "resize scale=0.5 | save format=png", "save format=png", "resize width=60 | noir")
        let files = [try TemporaryFile(), try TemporaryFile(), try TemporaryFile()]
        let results = try worker.render(into: files[0], files[1], files[2])
        #expect(results.map(\.width) == [300, 600, 60])
        #expect(try Pixels(files[1]) == Pixels(source))
        #expect(try results.map(\.bytes) == files.map { Int64(try $0.bytes.count) })
    }
}
