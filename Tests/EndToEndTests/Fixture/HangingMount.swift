import Foundation
import Glibc
import Testing

/// A FUSE file system whose server never answers: every call hangs until the connection is aborted.
struct HangingMount {
    private let folder: String
    private let server: Int32

    init(_ folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        server = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        try #require(server >= 0, "/dev/fuse can't be opened")
        let options = "fd=\(server),rootmode=40000,user_id=0,group_id=0,allow_other"
        try #require(mount("hanging", folder, "fuse", 0, options) == 0)
    }

    /// Closes the connection, so that every hanging call fails.
    func end() {
        close(server)
        umount2(folder, Int32(MNT_DETACH))
    }
}
