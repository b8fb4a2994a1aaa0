import CNats
import Glibc
import SystemCalls

/// Incremental SHA-256.
///
/// Not copyable, because the value owns OpenSSL's context.
struct Digest: ~Copyable {
    private let context = EVP_MD_CTX_new()

    init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

    deinit { EVP_MD_CTX_free(context) }

    func add(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    /// Returns the hash in hexadecimal. Don't call `add` afterwards.
    func end() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A file's length and hash, by which the receiver verifies that the file has arrived completely.
struct FileDigest: Codable, Sendable, Hashable {
    var bytes: Int64
    var sha256: String

    init(of file: Descriptor) throws(SystemError) {
        var digest = RunningDigest()
        while true {
            let piece = try file.piece(at: digest.bytes, Piece.most)
            guard !piece.isEmpty else { break }
            digest.add(piece)
        }
        self = digest.end()
    }

    fileprivate init(bytes: Int64, sha256: String) { (self.bytes, self.sha256) = (bytes, sha256) }
}

/// Computes a file's digest piece by piece.
struct RunningDigest: ~Copyable {
    private(set) var bytes: Int64 = 0
    private let digest = Digest()

    mutating func add(_ piece: [UInt8]) {
        piece.withUnsafeBytes { digest.add($0) }
        bytes += Int64(piece.count)
    }

    func end() -> FileDigest { FileDigest(bytes: bytes, sha256: digest.end()) }
}

/// Nodes send files in pieces of at most `most` bytes.
enum Piece {
    static let most = 256 << 10
}

extension Descriptor {
    /// Reads `most` bytes at `offset`. Returns fewer bytes only if the file ends there.
    func piece(at offset: Int64, _ most: Int) throws(SystemError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { room, count in
            while count < most {
                let place = room.baseAddress.map { $0 + count }
                let got = uninterrupted { pread(number, place, most - count, off_t(offset) + off_t(count)) }
                failed = got < 0
                guard got > 0 else { break }
                count += got
            }
        }
        if failed { throw SystemError("read", "a picture") }
        return bytes
    }

    func put(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let wrote = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                return uninterrupted { pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(done)) }
            }
            guard wrote > 0 else { throw SystemError("write", "a picture") }
            done += wrote
        }
    }

    func empty() throws(SystemError) {
        guard uninterrupted({ ftruncate(number, 0) }) == 0 else { throw SystemError("truncate", "a picture") }
    }
}
