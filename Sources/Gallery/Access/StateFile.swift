import Glibc
import SystemCalls

/// A file that the gallery keeps across restarts, and that only the gallery's user may read.
struct StateFile: Sendable {
    let path: String

    /// Places the file in the state folder that systemd has made for the gallery. If there is no such folder, places
    /// the file beside the control socket.
    init(_ name: String, beside control: String) {
        let own = getenv("STATE_DIRECTORY").map { String(cString: $0) }
        path = FileSystem.join(own ?? FileSystem.folder(of: control), name)
    }

    /// Returns the file's content; empty if the file is missing.
    func read() throws(SystemError) -> [UInt8] {
        guard FileSystem.mayExist(path) else { return [] }
        return try FileSystem.read(
            try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), most: 1 << 20, called: path)
    }

    func write(_ bytes: [UInt8]) throws(SystemError) { try FileSystem.write(bytes, to: path, mode: 0o600) }
}
