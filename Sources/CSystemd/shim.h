/* The functions of libsystemd that the project uses, as <systemd/sd-daemon.h> and <systemd/sd-journal.h> declare them.
 * Those headers are not included, because they include much of the C library. Swift would then treat the C library's
 * declarations as part of this module, and no longer find them in Glibc. */
#include <stddef.h>
#include <stdint.h>

enum { SD_LISTEN_FDS_START = 3 };

int sd_listen_fds_with_names(int unset_environment, char ***names);
int sd_is_socket(int fd, int family, int type, int listening);
int sd_notify(int unset_environment, const char *state);
int sd_watchdog_enabled(int unset_environment, uint64_t *usec);

/* `iov` is an array of struct iovec. */
int sd_journal_sendv(const void *iov, int n);
