import Glibc
import SystemCalls

/// The program openssl, which makes keys and certificates.
struct OpenSSL {
    private let program: String

    private static let usualPath = "/usr/local/bin:/usr/bin:/bin"
    private static let longest = 1 << 20

    init() throws(Failure) {
        let path = getenv("PATH").map { String(cString: $0) } ?? Self.usualPath
        let places = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/openssl" }
        guard let program = places.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                "NotInstalled", "openssl, which makes the certificates, is missing; `apt install openssl`, then retry",
                .failed)
        }
        self.program = program
    }

    enum KeyKind {
        case ed25519
        /// The curve for TLS. All TLS clients support it.
        case p256

        fileprivate var words: [String] {
            switch self {
            case .ed25519: ["ED25519"]
            case .p256: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            }
        }
    }

    /// A private key, as PEM.
    func key(_ kind: KeyKind) throws(Failure) -> String { text(try run(["genpkey", "-algorithm"] + kind.words)) }

    /// The 32 raw bytes of an Ed25519 key, private or public. Both DER formats end in these bytes.
    func raw(_ key: String, isPublic: Bool) throws(Failure) -> [UInt8] {
        let part = isPublic ? ["-pubout"] : []
        return Array(try run(["pkey", "-in", Self.keyFile, "-outform", "DER"] + part, key: key).suffix(32))
    }

    /// An Ed25519 signature.
    func signature(of text: String, key: String) throws(Failure) -> [UInt8] {
        try run(["pkeyutl", "-sign", "-rawin", "-inkey", Self.keyFile, "-in", Self.input], input: text, key: key)
    }

    /// Makes a PEM certificate for a key, and signs it with the files of the authority. Without an authority, the
    /// certificate is self-signed.
    func certificate(
        _ holder: CertificateHolder, key: String, authority: (certificate: String, key: String)?
    ) throws(Failure) -> String {
        let signing = authority.map { ["-CA", $0.certificate, "-CAkey", $0.key] } ?? []
        return text(
            try run(
                ["req", "-x509", "-new", "-days", "3650", "-config", Self.input, "-key", Self.keyFile]
                    + signing,
                input: holder.request, key: key))
    }

    // MARK: -

    private static let input = "/dev/fd/0"
    private static let keyFile = "/dev/fd/3"

    private func run(_ words: [String], input: String, key: String) throws(Failure) -> [UInt8] {
        try run(words, input: Array(input.utf8), key: key)
    }

    /// Runs openssl with the input at descriptor 0 and the key at descriptor 3. The input and the key stay in memory.
    private func run(_ words: [String], input: [UInt8] = [], key: String = "") throws(Failure) -> [UInt8] {
        do {
            let (output, errors) = (try Descriptor.memory([]), try Descriptor.memory([]))
            let files = [try Descriptor.memory(input), output, errors, try Descriptor.memory(Array(key.utf8))]
            // An optimised build could otherwise close these files before the new process has inherited them.
            let process = try withExtendedLifetime(files) { () throws(SystemError) in
                try ChildProgram.start(
                    [program] + words, environment: ["PATH=\(Self.usualPath)", "LC_ALL=C"],
                    streams: files.map(\.number))
            }
            var status: Int32 = 0
            guard uninterrupted({ waitpid(process, &status, 0) }) == process else { throw SystemError("wait", program) }
            let said = try FileSystem.read(status == 0 ? output : errors, most: Self.longest, called: program)
            guard status == 0 else {
                let reason = String(decoding: said, as: UTF8.self)
                throw Failure("Failed", "\(program) \(words[0]) has failed:\n\(reason.prefix(2000))", .failed)
            }
            return said
        } catch {
            throw Failure(error)
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
