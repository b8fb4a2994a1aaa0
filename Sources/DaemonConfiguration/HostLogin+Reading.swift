import Foundation
import Glibc
import PictureFiles
package import PipelineModel
import ServiceProgram
import SystemCalls
package import WorkerPools
package import WorkerProtocol

/// Reads passwords. The daemon reads a password when a download begins, so that a changed password applies without a
/// reload. It keeps the password no longer than the download.
extension HostLogin {
    private static let longestPassword = 4096

    /// The login in the form that the fetch worker needs.
    package func read(for host: String) throws(JobFailure) -> FetchLogin {
        let password = usesPassword ? try password(for: host) : nil
        // The user name goes into a header field. If libcurl got the name as an option, libcurl would write it into the
        // URLs of redirects.
        let basic = user.map { "Authorization: Basic " + Data("\($0):\(password ?? "")".utf8).base64EncodedString() }
        let fields = headers.map { header in
            header.split(separator: Self.placeholder, omittingEmptySubsequences: false)
                .joined(separator: password ?? "")
        }
        return FetchLogin(
            host: host, headers: (basic.map { [$0] } ?? []) + fields, allowsPlainHTTP: plainHTTP == .allow)
    }

    /// Why the password can't be read now; nil if it can be read, or if the login has no password.
    package func unreadable(for host: String) -> String? {
        guard usesPassword else { return nil }
        do throws(JobFailure) {
            _ = try password(for: host)
            return nil
        } catch {
            return [error.message, error.advice].compactMap(\.self).joined(separator: "; ")
        }
    }

    private func password(for host: String) throws(JobFailure) -> String {
        func failure(_ what: String, _ advice: String? = nil) -> JobFailure {
            JobFailure("the password of [Host \(host)] \(what)", advice: advice, class: .transient)
        }
        let name = passwordFile ?? ""
        guard let path = Self.path(of: name) else {
            throw failure(
                "can't be read: PasswordFile=\(name) names a credential, and the daemon was given none",
                "write LoadCredential=\(name):PATH into a drop-in of its unit, or an absolute path into pipelined.conf")
        }
        let bytes: [UInt8]
        do {
            let way = try Trust.way(to: path)
            if let refusal = way.refusal { throw failure("is not read: \(refusal)") }
            let file = try way.open(O_RDONLY | O_NONBLOCK)
            let status = FileStatus(try file.status())
            guard status.kind == .file else { throw failure("is not read: \(path) is not a file", "name another") }
            guard status.mode & S_IROTH == 0 else {
                throw failure("is not read: everybody can read \(path)", "`chmod o-rwx` it")
            }
            bytes = try FileSystem.read(file, most: Self.longestPassword + 2, called: path)
        } catch {
            if let failure = error as? JobFailure { throw failure }
            throw failure("can't be read: \(error)", "mend that, or PasswordFile= in pipelined.conf")
        }
        let text = String(validating: bytes, as: UTF8.self)?.prefix { $0 != "\n" && $0 != "\r\n" }
        guard let text, !text.isEmpty, text.utf8.count <= Self.longestPassword,
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw failure(
                "can't be read: the first line of \(path) is not a valid password",
                "write the password there, as UTF-8 of at most \(Self.longestPassword) bytes")
        }
        return String(text)
    }

    /// The path of the password file or systemd credential. Nil for a credential if the service was given no
    /// credentials.
    private static func path(of file: String) -> String? {
        if file.hasPrefix("/") { return file }
        return getenv("CREDENTIALS_DIRECTORY").map { FileSystem.join(String(cString: $0), file) }
    }
}
