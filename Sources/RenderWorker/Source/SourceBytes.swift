import Glibc
import SystemCalls

/// The bytes of a picture, either in a file or, for a preview within a camera's file, in memory. Files are never mapped
/// into memory, because a disk error would then kill the process.
enum SourceBytes {
    /// `called` is the file's name in messages: the picture, or the result.
    case file(Descriptor, called: String)
    case memory([UInt8])

    /// Reads at an offset, and returns the number of bytes read, which is smaller at the end. If the read fails,
    /// returns -1, and `ReadFailure` records the error.
    func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        switch self {
        case .file(let descriptor, let name):
            let got = uninterrupted { pread(descriptor.number, bytes.baseAddress, bytes.count, off_t(offset)) }
            if got < 0 { ReadFailure.note(errno, of: name) }
            return got
        case .memory(let memory):
            guard memory.indices.contains(offset) else { return 0 }
            let part = memory[offset...].prefix(bytes.count)
            bytes.copyBytes(from: part)
            return part.count
        }
    }

    /// Reads at most `count` bytes; fewer at the end.
    func bytes(at start: Int, _ count: Int) throws -> [UInt8] {
        if case .memory(let memory) = self, start == 0, count == memory.count { return memory }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            while used < count {
                let got = read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[used..<count]),
                    at: start + used)
                guard got >= 0 else { throw SystemError("read", name) }
                if got == 0 { return }
                used += got
            }
        }
    }

    /// Reads exactly `count` bytes; nil if that is not possible.
    func exactly(_ start: Int, _ count: Int) -> [UInt8]? {
        guard let bytes = try? bytes(at: start, count), bytes.count == count else { return nil }
        return bytes
    }

    private var name: String { if case .file(_, let name) = self { name } else { "the picture" } }
}
