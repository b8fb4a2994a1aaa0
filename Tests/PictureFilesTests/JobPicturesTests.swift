import Glibc
import JobModel
import SystemCalls
import Testing

@testable import PictureFiles

@Suite("Pictures of jobs")
struct JobPicturesTests {
    private func result(
        _ bytes: Int, _ width: Int = 320, _ height: Int = 240, format: String = "jpeg", pages: Int = 1, made: Int? = nil
    ) throws -> JobPicture {
        JobPicture(
            name: "a", file: try Descriptor.open("/dev/null", O_RDONLY),
            identity: FileStatus.Identity(device: 1, inode: 1, size: bytes, modified: 1),
            made: JobStory.Picture(
                format: format, width: width, height: height, pages: pages, bytes: made ?? bytes))
    }

    @Test("a still result of at most 64 KB and the wanted size, in a format that browsers show, is its own preview")
    func isSmall() throws {
        let most = 64 << 10
        for format in ["jpeg", "png", "webp"] { #expect(try result(most, format: format).isSmall(side: 320)) }
        #expect(try result(most, 240, 320).isSmall(side: 320))
        for other in [
            try result(most + 1), try result(most, 321, 240), try result(most, 240, 321),
            try result(most, format: "tiff"), try result(most, format: "gif"), try result(most, pages: 2),
            try result(most, made: most - 1),
        ] {
            #expect(!other.isSmall(side: 320), "\(other)")
        }
        var original = try result(1)
        original.made = nil
        #expect(!original.isSmall(side: 320))
    }
}
