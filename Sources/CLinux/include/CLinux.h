/* What Swift cannot spell: control messages, flags behind macros, calls that glibc's module leaves out.
 * Each function wraps one call and decides nothing; -1 with errno on failure, as the call itself. */
#ifndef PIPELINED_CLINUX_H
#define PIPELINED_CLINUX_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/vfs.h>

/* sendmsg(2) with MSG_NOSIGNAL and the descriptors as SCM_RIGHTS. */
ssize_t clinux_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count);

/* recvmsg(2) with MSG_CMSG_CLOEXEC. On entry *count is the room in `descriptors`, on return how many came.
 * Descriptors beyond that room are closed, and *truncated is set. */
ssize_t clinux_receive(int socket, void *buffer, size_t length, int *descriptors, size_t *count, int *truncated);

/* renameat2(2) with RENAME_NOREPLACE; `from` relative to `folder`. */
int clinux_rename_noreplace(int folder, const char *from, const char *to);

/* openat2(2) of what lies beneath `folder`, over no symbolic link. O_CLOEXEC is always added. */
int clinux_open_beneath(int folder, const char *path, int flags);

/* open(2), whose mode argument is variadic. O_CLOEXEC is always added. */
int clinux_open(const char *path, int flags, mode_t mode);

/* accept4(2), close-on-exec and non-blocking. */
int clinux_accept(int listener);

int clinux_pidfd_open(pid_t pid);

/* Starts `path` with `channel` as its descriptor 3, default signals, and a process group of its own. */
int clinux_spawn(pid_t *pid, const char *path, char *const argv[], char *const envp[], int channel);

/* The user and process at the other end of a Unix socket. */
int clinux_peer(int socket, uid_t *user, pid_t *process);

/* ioctl(2) TIOCGWINSZ: the columns of a terminal, or -1. */
int clinux_terminal_columns(int terminal);

/* Whether anybody has the file open for writing, by trying for a read lease: 0 no, 1 yes, -1 not to be known.
 * A lease that is broken raises SIGIO: the caller's process ignores it. */
int clinux_open_for_writing(int descriptor);

/* wcwidth(3): the columns that a character takes in the current locale, or -1. */
int clinux_character_columns(uint32_t character);

/* flock(2): exclusive, without waiting. */
int clinux_lock(int descriptor);

#endif
