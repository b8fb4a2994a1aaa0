import CCurl
import Glibc

/// Calls to libcurl that are independent of any transfer.
enum Curl {
    static func start() -> Bool { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK }

    /// A part of a URL, as libcurl parses it; nil if the URL lacks that part.
    static func part(_ part: CURLUPart, of url: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// Converts a date in a header to seconds since 1970; nil if it is invalid.
    static func seconds(ofDate text: String) -> Int? {
        let seconds = curl_getdate(text, nil)
        return seconds < 0 ? nil : seconds
    }

    static func words(_ code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}
