/* libmicrohttpd for Swift, which can't call variadic functions. */
#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <stdbool.h>

/* The results of libmicrohttpd's calls. Swift code uses these constants instead of the enumeration's members, because
 * only some releases of Swift shorten the members' names. */
static const enum MHD_Result cmicrohttpd_yes = MHD_YES, cmicrohttpd_no = MHD_NO;

/* Creates a server for a listening socket, which the server closes when it stops. The server starts no thread, and works only
 * while `MHD_run` is called.
 *
 * MHD_OPTION_STRICT_FOR_CLIENT exists in all versions of libmicrohttpd, but has different effects. In version 1.0, in
 * Debian 13, its value 1 means MHD_OPTION_CLIENT_DISCIPLINE_LVL 1: the server refuses a single CR or LF as the end of a line,
 * and header lines that continue the previous line. In version 0.9, in Debian 12, the server requires a Host header, and
 * refuses spaces in the URL. */
static inline struct MHD_Daemon *cmicrohttpd_start(
    int listener, MHD_AccessHandlerCallback answer, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connected, void *context,
    unsigned int connections, unsigned int silence, size_t memory) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, context,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connected, context,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT, silence,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static inline bool cmicrohttpd_has_come(enum MHD_ConnectionNotificationCode news) {
    return news == MHD_CONNECTION_NOTIFY_STARTED;
}

/* The descriptor that becomes readable when `MHD_run` has something to do, or -1. */
static inline int cmicrohttpd_ready(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

static inline unsigned int cmicrohttpd_clients(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

/* Whether `MHD_run` must be called after some time even if no data arrives. If so, stores that time in *wait, in
 * milliseconds. */
static inline bool cmicrohttpd_waits(struct MHD_Daemon *daemon, unsigned long long *wait) {
    return MHD_get_timeout(daemon, wait) == MHD_YES;
}

static inline void cmicrohttpd_headers(struct MHD_Connection *connection, MHD_KeyValueIteratorN each, void *context) {
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, each, context);
}

static inline void cmicrohttpd_query(struct MHD_Connection *connection, MHD_KeyValueIteratorN each, void *context) {
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, each, context);
}

/* Before version 1.0, libmicrohttpd joins header lines that continue the previous line, and accepts a single CR or LF as the
 * end of a line. The names and values that it returns point into the received bytes, so the bytes between them reveal such
 * lines. Later versions refuse them. */
static const bool cmicrohttpd_joins_lines = MHD_VERSION < 0x01000000;

/* The size of a request's head, including the empty line at its end; 0 if it is unknown. */
static inline size_t cmicrohttpd_head(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/* The descriptor of a client's socket, or -1. */
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/* Creates an answer with the first `bytes` bytes of a file. libmicrohttpd closes the file. */
static inline struct MHD_Response *cmicrohttpd_file(int file, unsigned long long bytes) {
    return MHD_create_response_from_fd64(bytes, file);
}

/* Return values of the callback that supplies a stream: the stream is complete, or it has failed. */
static const long cmicrohttpd_over = -1, cmicrohttpd_failed = -2;

/* Creates an answer of unknown length. libmicrohttpd calls `next` for its bytes while it sends the answer. */
static inline struct MHD_Response *cmicrohttpd_stream(
    MHD_ContentReaderCallback next, MHD_ContentReaderFreeCallback end, void *context) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16 * 1024, next, context, end);
}

/* Creates an answer with a copy of these bytes. */
static inline struct MHD_Response *cmicrohttpd_answer(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline bool cmicrohttpd_add(struct MHD_Response *answer, const char *name, const char *value) {
    return MHD_add_response_header(answer, name, value) == MHD_YES;
}

static inline bool cmicrohttpd_send(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *answer) {
    return MHD_queue_response(connection, status, answer) == MHD_YES;
}

#endif
