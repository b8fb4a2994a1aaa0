import CCurl
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A download through a libcurl handle. The handle makes a separate request for each redirect, so that every URL passes
/// the same checks.
///
/// A transfer may be used only on the worker's single thread, which also runs libcurl's callbacks.
final class Transfer {
    enum Ending {
        /// The server redirected to a new URL. The caller must add the handle to libcurl again.
        case redirected
        case done(FetchedFile)
        case failed(FetchFailure)
    }

    let request: FetchRequest
    let handle: UnsafeMutableRawPointer
    private let target: Descriptor
    private let hosts: PrivateHosts
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private enum Login {
        /// The settings contain no login for this server, or the URL contains a login of its own.
        case none
        case sent
        /// The request uses http, which would reveal the login, so the login is not sent.
        case withheld
    }

    private var url: String
    private var login = Login.none
    private var hops = 0
    private var mayBePrivate = false
    private var header = AnswerHeader()
    private var headerBytes = 0
    /// Whether the body is the requested picture rather than, say, an error page. Nil before the body has begun.
    private var isWanted: Bool?
    private var dropped = 0
    /// The length of the staging file.
    private(set) var received: Int64
    private(set) var total: Int64?
    /// The end of the byte range that a partial answer has announced.
    private var partEnd = Int64.max
    private var refused: Address?
    /// Why the worker has aborted the transfer.
    private var verdict: FetchFailure?
    /// The start of the current stall window, and `arrived` at that moment. Nil while there is no connection.
    private var window: (start: ContinuousClock.Instant, bytes: Int)?
    /// Bytes received by all requests of this transfer, including headers.
    private(set) var arrived = 0
    /// Whether the transfer still waits for a name lookup or a free connection.
    private(set) var isWaiting = true

    /// Maximum bytes of all headers. Without this limit, a server could send endless data in headers.
    private static let longestHeader = 256 << 10
    /// The longest header line that libcurl accepts, in bytes. For a longer line, libcurl before 8.6 reports that
    /// memory has run out.
    private static let longestLine = 100 << 10
    /// Maximum bytes of an error page that the worker reads so that the connection can be reused. For a longer page,
    /// closing the connection is cheaper.
    private static let longestApology = 64 << 10
    /// Minimum bytes that must arrive in each period of StallTimeout. Without this limit, a server that sends a byte
    /// now and then would occupy a slot forever.
    private static let leastProgress = 1024

    init?(_ request: FetchRequest, into target: Descriptor) {
        guard let handle = curl_easy_init() else { return nil }
        (self.request, self.target, self.handle) = (request, target, handle)
        hosts = PrivateHosts(request.limits.allowPrivateHosts)
        url = request.url
        received = request.resume?.offset ?? 0
        words.pointee = 0
        setOptions()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        words.deallocate()
    }

    // MARK: - Request

    private func setOptions() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, words)
        // Makes libcurl speak only HTTP, and ignore proxies and passwords from environment variables and from files in
        // the home folder.
        ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        ccurl_set_text(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        ccurl_set_text(handle, CURLOPT_PROXY, "")
        ccurl_set_text(handle, CURLOPT_NOPROXY, "*")
        ccurl_ignore_netrc(handle)
        ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        ccurl_set_number(handle, CURLOPT_HTTP09_ALLOWED, 0)
        ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        ccurl_set_number(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        ccurl_set_number(handle, CURLOPT_SSL_VERIFYPEER, 1)
        ccurl_set_number(handle, CURLOPT_SSL_VERIFYHOST, 2)
        // The request asks for an unencoded body. If a server encodes the body nevertheless, libcurl decodes it, and
        // MaxSize applies to the decoded bytes.
        ccurl_set_text(handle, CURLOPT_ACCEPT_ENCODING, "identity")
        ccurl_set_text(handle, CURLOPT_USERAGENT, "pipelined/\(Release.version)")
        ccurl_set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, request.limits.connectMilliseconds)
        // Keeps a pending name lookup from delaying the process's exit.
        ccurl_set_number(handle, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_pointer(handle, CURLOPT_HEADERDATA, me)
        ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
            Transfer.at(me).readHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_pointer(handle, CURLOPT_WRITEDATA, me)
        ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
            Transfer.at(me).readBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, me)
        ccurl_set_open_socket(handle) { me, _, address in Transfer.at(me).openSocket(address) }
        ccurl_set_pointer(handle, CURLOPT_PREREQDATA, me)
        ccurl_set_before_request(handle) { me, address, _, _, _ in Transfer.at(me).mayAsk(address) }
    }

    private static func at(_ me: UnsafeMutableRawPointer?) -> Transfer {
        guard let me else { fatalError("libcurl has lost its callback's data") }
        return Unmanaged<Transfer>.fromOpaque(me).takeUnretainedValue()
    }

    /// Prepares the request for `url`. Throws if the URL is not allowed.
    func prepare() throws(FetchFailure) {
        let scheme = Curl.part(CURLUPART_SCHEME, of: url)
        guard let scheme, let host = Curl.part(CURLUPART_HOST, of: url), !host.isEmpty else {
            throw FetchFailure(.input, "\(place) is not a URL")
        }
        guard ["http", "https"].contains(scheme) else {
            throw FetchFailure(.input, "\(place) is not an http or https URL, but \(scheme)")
        }
        let port = Curl.part(CURLUPART_PORT, of: url) ?? ""
        mayBePrivate = hosts.contains(host, port: port)
        logIn(scheme, host.lowercased(), port)
        header = AnswerHeader()
        isWanted = nil
        dropped = 0
        refused = nil
        window = nil
        isWaiting = true
        // Waits briefly for an existing HTTP/2 connection to share, which is faster than to open a second connection.
        ccurl_set_number(handle, CURLOPT_PIPEWAIT, scheme == "https" ? 1 : 0)
        ccurl_set_text(handle, CURLOPT_URL, url)
    }

    /// Sets this request's header fields. Only the server that the login belongs to gets the login.
    private func logIn(_ scheme: String, _ host: String, _ port: String) {
        let isOwn =
            [host, "\(host):\(port)"].contains(request.login?.host)
            && (port == Self.standardPorts[scheme] || request.login?.host != host)
        if !isOwn || Curl.part(CURLUPART_USER, of: url) != nil {
            login = .none
        } else {
            login = scheme == "https" || request.login?.allowsPlainHTTP == true ? .sent : .withheld
        }
        var fields = login == .sent ? request.login?.headers ?? [] : []
        if let resume = request.resume {
            fields += ["Range: bytes=\(resume.offset)-", "If-Range: \(resume.validator)"]
        }
        let before = headers
        headers = fields.reduce(nil) { curl_slist_append($0, $1) }
        ccurl_set_headers(handle, headers)
        curl_slist_free_all(before)
    }

    private static let standardPorts = ["http": "80", "https": "443"]

    /// The subject of an error message: the URL itself, or the target of its redirect.
    private var place: String { hops == 0 ? "it" : "its redirect target" }

    // MARK: - Connecting

    /// libcurl calls this method to open each connection. libcurl connects to exactly the address that this method
    /// checks, and does not look the name up again.
    private func openSocket(_ to: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        isWaiting = false
        guard let to else { return CURL_SOCKET_BAD }
        let address = withUnsafePointer(to: &to.pointee.addr) { Address($0, length: Int(to.pointee.addrlen)) }
        guard let address, mayConnect(address) else { return CURL_SOCKET_BAD }
        return socket(to.pointee.family, to.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), to.pointee.protocol)
    }

    private func mayConnect(_ address: Address) -> Bool {
        if mayBePrivate || address.isPublic { return true }
        refused = address
        return false
    }

    /// Checks the address again before each request, because libcurl may reuse a connection that another transfer
    /// opened under different rules.
    private func mayAsk(_ address: UnsafeMutablePointer<CChar>?) -> Int32 {
        isWaiting = false
        window = (.now, arrived)
        guard let address, let address = Address(String(cString: address)), mayConnect(address) else {
            return CURL_PREREQFUNC_ABORT
        }
        return CURL_PREREQFUNC_OK
    }

    // MARK: - Receiving

    private func readHeader(_ line: UnsafeRawBufferPointer) -> Int {
        arrived += line.count
        headerBytes += line.count
        guard headerBytes <= Self.longestHeader else {
            verdict = overlong("the header of the server's answer is longer than \(Self.longestHeader) bytes")
            return -1
        }
        header.read(line)
        // libcurl 8 itself rejects a Transfer-Encoding that the request does not ask for; libcurl 7 would decode it.
        if header.isTransferEncoded {
            verdict = unreadable("by a Transfer-Encoding that the request does not ask for")
            return -1
        }
        // Restarts the stall window at the end of the header, because some servers answer late and then send fast.
        if header.isWhole, isWanted == nil { window = (.now, arrived) }
        return line.count
    }

    /// Receives a piece of the body. libcurl aborts the transfer unless the returned value is the number of bytes.
    private func readBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        arrived += bytes.count
        do throws(FetchFailure) {
            guard try begin() else {
                dropped += bytes.count
                return dropped <= Self.longestApology ? bytes.count : -1
            }
            let end = received + Int64(bytes.count)
            guard end <= request.limits.maxSize else { throw tooLarge }
            guard end <= partEnd else { throw changed }
            try write(bytes)
            return bytes.count
        } catch {
            verdict = error
            return -1
        }
    }

    /// Returns whether the body is the wanted picture. Throws if the answer is unusable. Must be called before the
    /// first byte of the body is used.
    private func begin() throws(FetchFailure) -> Bool {
        if let isWanted { return isWanted }
        var length: curl_off_t = -1
        ccurl_get_size(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
        let announced = length >= 0 && !header.isEncoded ? Int64(length) : nil
        switch (header.status, request.resume) {
        case (200, nil), (203, nil): total = announced
        case (206, let resume?):
            guard let part = header.continuation(of: resume, length: announced) else { throw changed }
            (partEnd, total) = (part.end, part.total)
        case (200, .some), (203, .some), (416, .some): throw changed
        default:
            isWanted = false
            return false
        }
        isWanted = true
        guard ftruncate(target.number, off_t(received)) == 0 else { throw unwritable(errno) }
        guard total.map({ $0 <= request.limits.maxSize }) ?? true else { throw tooLarge }
        return true
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = uninterrupted { pwrite(target.number, part.baseAddress, part.count, off_t(received)) }
            guard count >= 0 else { throw unwritable(errno) }
            received += Int64(count)
            rest = rest.dropFirst(count)
        }
    }

    /// The error for a file that changed on the server. The part from an earlier attempt stays in the staging file; the
    /// supervisor discards it before the next attempt.
    private var changed: FetchFailure {
        FetchFailure(
            .changed, "the server now has another file, or can't resume the transfer",
            status: header.status)
    }

    private var tooLarge: FetchFailure {
        FetchFailure(
            .input, "it is larger than the \(request.limits.maxSize) bytes that MaxSize allows",
            advice: "raise MaxSize in [Download], then `pipectl retry`")
    }

    private func unwritable(_ code: Int32) -> FetchFailure {
        // The write exceeded the file size limit, which the supervisor has set in case this process miscounts bytes.
        if code == EFBIG { return tooLarge }
        let isOfRoom = code == ENOSPC || code == EDQUOT
        return FetchFailure(
            isOfRoom ? .room : .transient, "writing the download: \(String(cString: strerror(code)))",
            advice: isOfRoom ? "make room where the daemon keeps its state, then `pipectl retry`" : nil)
    }

    // MARK: - Time

    /// Whether the current stall window is over, and fewer than `leastProgress` bytes have arrived in it. If the window
    /// is over and enough bytes have arrived, starts the next window.
    func isStalled(at now: ContinuousClock.Instant) -> Bool {
        guard let window, now - window.start >= .milliseconds(request.limits.stallMilliseconds) else { return false }
        guard arrived - window.bytes >= Self.leastProgress else { return true }
        self.window = (now, arrived)
        return false
    }

    var stalled: FetchFailure {
        FetchFailure(
            .transient, "the server sent less than \(Self.leastProgress) bytes within StallTimeout", resume: resume)
    }

    // MARK: - Completion

    func ended(_ code: CURLcode) -> Ending {
        do throws(FetchFailure) {
            if let verdict { throw verdict }
            if header.isWhole {
                if let next = redirection {
                    guard hops < request.limits.redirects else {
                        throw FetchFailure(
                            .input, "it redirects more than \(request.limits.redirects) times (Redirects=)",
                            status: header.status)
                    }
                    hops += 1
                    url = next
                    try prepare()
                    return .redirected
                }
                guard try begin() else { throw unwelcome }
            }
            guard code == CURLE_OK else { throw failure(code) }
            guard received > 0 else { throw FetchFailure(.input, "the server sent no data", status: header.status) }
            if let total, received < total {
                throw FetchFailure(
                    .transient, "the server sent \(received) of \(total) bytes", status: header.status, resume: resume)
            }
            return .done(
                FetchedFile(status: header.status, name: header.name, url: url, bytes: received))
        } catch {
            verdict = error
            return .failed(error)
        }
    }

    private var redirection: String? {
        guard [301, 302, 303, 307, 308].contains(header.status) else { return nil }
        var next: UnsafeMutablePointer<CChar>?
        guard ccurl_get_text(handle, CURLINFO_REDIRECT_URL, &next) == CURLE_OK, let next else { return nil }
        return String(cString: next)
    }

    private var unwelcome: FetchFailure {
        let status = header.status
        let passes = [408, 425, 429, 500, 502, 503, 504].contains(status)
        var seconds: curl_off_t = 0
        ccurl_get_size(handle, CURLINFO_RETRY_AFTER, &seconds)
        let meaning = Self.meanings[status].map { " (\($0))" } ?? ""
        let remedy = loginRemedy(status) ?? "open the URL in a browser; correct it, and add it again"
        return FetchFailure(
            passes ? .transient : .input, "the server answers \(status)\(meaning)", advice: passes ? nil : remedy,
            status: status,
            retryAfter: seconds > 0 ? Int(min(seconds, 30 * 86400)) : nil)
    }

    /// The advice if the server rejected the request for lack of a valid login.
    private func loginRemedy(_ status: Int) -> String? {
        guard [401, 403].contains(status) else { return nil }
        let host = request.login?.host ?? ""
        switch login {
        case .sent:
            return "correct the login in [Host \(host)] of pipelined.conf; then `pipectl reload`, and `pipectl retry`"
        case .withheld:
            return "add it with https://: the login in [Host \(host)] is not sent over http without PlainHTTP=allow"
        case .none where status == 401 && Curl.part(CURLUPART_USER, of: url) == nil:
            return "give pipelined.conf a section [Host NAME] with a login; then `pipectl reload`, and `pipectl retry`"
        case .none: return nil
        }
    }

    private static let meanings = [
        401: "a login is required", 403: "forbidden", 404: "not found", 410: "gone", 429: "too many requests",
        500: "internal error", 502: "the server behind it has failed", 503: "not available",
        504: "the server behind it does not answer",
    ]

    private func unreadable(_ reason: String) -> FetchFailure {
        FetchFailure(
            .input, "the server's answer is encoded in a way that can't be read (\(reason))",
            advice: "tell the server's operator, or download it in a browser and drop it into an inbox")
    }

    private func overlong(_ message: String) -> FetchFailure {
        FetchFailure(
            .input, message + ", which is the limit",
            advice: "tell the server's operator, or download it in a browser and drop it into an inbox")
    }

    private func failure(_ code: CURLcode) -> FetchFailure {
        if let refused {
            return FetchFailure(
                .input, "\(place) leads to \(refused), which is not a public address",
                advice: "if that is intended, name its host in AllowPrivateHosts of [Download]")
        }
        let said = words.pointee == 0 ? Curl.words(code) : String(cString: words)
        switch code {
        case ccurl_too_large where !header.isWhole, CURLE_OUT_OF_MEMORY where window != nil && !header.isWhole:
            return overlong("a line of the header of the server's answer is longer than \(Self.longestLine) bytes")
        case CURLE_OPERATION_TIMEDOUT:
            return FetchFailure(.transient, "there was no connection within ConnectTimeout (\(said))")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return FetchFailure(.input, said)
        case CURLE_BAD_CONTENT_ENCODING:
            return unreadable(said)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return FetchFailure(
                .input, "the server can't prove its identity: \(said)",
                advice: "its certificate must be valid, and signed by an authority that this machine trusts")
        default:
            return FetchFailure(.transient, said, resume: resume)
        }
    }

    /// Where a later attempt can resume: after this attempt's bytes, or after an earlier attempt's bytes if this
    /// attempt has left them unchanged.
    var kept: FetchResume? {
        if verdict?.kind == .changed { return nil }
        return isWanted == true ? resume : request.resume
    }

    /// Where a later attempt can resume; nil if it can't. If the file is complete, the later attempt requests the last
    /// byte again, because servers reject a range that starts at the end.
    private var resume: FetchResume? {
        guard isWanted == true, !header.isEncoded, !header.refusesRanges else { return nil }
        let offset = min(received, (total ?? .max) - 1)
        guard offset > 0, let validator = request.resume?.validator ?? header.validator else { return nil }
        return FetchResume(
            offset: offset, validator: validator, modified: request.resume?.modified ?? header.modified, total: total)
    }
}
