/* The calls of libsystemd that are used, as <systemd/sd-daemon.h> and <systemd/sd-journal.h> declare them. The headers
 * are not included: they draw in much of the C library, which Swift would then take for this module's, and no longer
 * find in Glibc. */
#include <stddef.h>
#include <stdint.h>

enum { SD_LISTEN_FDS_START = 3 };

int sd_listen_fds_with_names(int unset_environment, char ***names);
int sd_is_socket(int fd, int family, int type, int listening);
int sd_notify(int unset_environment, const char *state);
int sd_watchdog_enabled(int unset_environment, uint64_t *usec);

/* `iov` is an array of struct iovec. */
int sd_journal_sendv(const void *iov, int n);
