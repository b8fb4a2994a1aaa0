/* libcurl for Swift: a static inline wrapper for each type of argument that libcurl's variadic calls take. */
#ifndef PIPELINED_CCURL_SHIM_H
#define PIPELINED_CCURL_SHIM_H

#include <curl/curl.h>

/* Options of a transfer. */

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *headers) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

/* Sets the callback that receives a body's bytes, or a header's lines. */
static inline CURLcode ccurl_set_receiver(CURL *easy, CURLoption option, curl_write_callback receiver) {
    return curl_easy_setopt(easy, option, receiver);
}

static inline CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode ccurl_set_before_request(CURL *easy, curl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

/* CURL_NETRC_IGNORED is an enum constant before libcurl 8.14, and a macro since then, so its Swift type varies. */
static inline void ccurl_ignore_netrc(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}

/* Information about a transfer. */

static inline CURLcode ccurl_get_size(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_text(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

/* CURLE_TOO_LARGE. Headers before libcurl 8.6 lack it. */
static const CURLcode ccurl_too_large = (CURLcode)100;

/* The multi interface, which runs all transfers. */

static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* The result of a transfer, from the message that reports its end. */
static inline CURLcode ccurl_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
