/* Calls that Swift can't express: control messages, flags behind macros, functions that glibc's module leaves out. Most
 * functions wrap one call, decide nothing, and return -1 with errno on failure, as the call does. */
#ifndef PIPELINED_CLINUX_H
#define PIPELINED_CLINUX_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

/* memmem(3): the position of `sought` in `bytes`, or -1. */
ssize_t clinux_find(const void *bytes, size_t length, const void *sought, size_t sought_length);

/* sendmsg(2) with MSG_NOSIGNAL and the descriptors as SCM_RIGHTS. */
ssize_t clinux_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count);

/* recvmsg(2) with MSG_CMSG_CLOEXEC. On entry, *count is the room in `descriptors`; on return, the number of received
 * descriptors. Closes descriptors beyond the room, and sets *truncated. */
ssize_t clinux_receive(int socket, void *buffer, size_t length, int *descriptors, size_t *count, int *truncated);

/* renameat2(2) with RENAME_NOREPLACE. `from` is relative to `folder`, and `to` is relative to `target`. */
int clinux_rename_noreplace(int folder, const char *from, int target, const char *to);
int clinux_rename_exchange(const char *one, const char *other);

/* openat2(2) beneath `folder`; fails if `path` contains a symbolic link. Always adds O_CLOEXEC. */
int clinux_open_beneath(int folder, const char *path, int flags);

/* openat(2) of a new file; fails with EEXIST if the name is taken. */
int clinux_create_at(int folder, const char *path, mode_t mode);
/* openat(2) of an existing file. Always adds O_CLOEXEC. */
int clinux_open_at(int folder, const char *path, int flags);

/* open(2), whose mode argument is variadic. Always adds O_CLOEXEC. */
int clinux_open(const char *path, int flags, mode_t mode);

/* accept4(2), close-on-exec and non-blocking. */
int clinux_accept(int listener);

int clinux_pidfd_open(pid_t pid);

/* epoll(7). clinux_epoll_wait reports `id` once when the descriptor is ready or has hung up, and again only after
 * clinux_epoll_again. */
int clinux_epoll_create(void);
int clinux_epoll_add(int epoll, int descriptor, int writing, uint64_t id);
int clinux_epoll_again(int epoll, int descriptor, int writing, uint64_t id);
int clinux_epoll_remove(int epoll, int descriptor);
int clinux_epoll_wait(int epoll, uint64_t *ids, int count);

/* memfd_create(2), close-on-exec. */
int clinux_memory_file(void);

/* Starts the program `argv[0]` in a process group of its own, with default signal handling. `streams` become the
 * program's descriptors 0, 1, …, and the program gets no other descriptors. */
int clinux_spawn(pid_t *pid, char *const argv[], char *const envp[], const int *streams, int count);

/* Like clinux_spawn, but the program is the child of a keeper, whose process ID becomes *pid. The keeper ends with the
 * program's exit status or signal. Orphaned descendants of the program become children of the keeper. On SIGTERM the
 * keeper kills all descendants, in any process group or session, before it ends itself. */
int clinux_spawn_kept(pid_t *pid, char *const argv[], char *const envp[], const int *streams, int count);

/* prctl(2): the kernel kills this process when the thread that started it ends. */
int clinux_end_with_parent(void);

/* waitid(2): the signal that has stopped a child since the last call, or 0 if no signal has. */
int clinux_stopped(pid_t pid);

/* The user and process at the other end of a Unix socket. */
int clinux_peer(int socket, uid_t *user, pid_t *process);

/* ioctl(2) TIOCGWINSZ: the columns and the rows of a terminal, or -1. */
int clinux_terminal_columns(int terminal);
int clinux_terminal_rows(int terminal);

/* Whether any process has the file open for writing, found by requesting a read lease: 0 no, 1 yes, -1 unknown.
 * A broken lease raises SIGIO, which the calling process must ignore. */
int clinux_open_for_writing(int descriptor);

/* wcwidth(3): the columns that a character takes in the current locale, or -1. */
int clinux_character_columns(uint32_t character);

/* pthread_setattr_default_np(3): sets the stack size of threads that start from now on. */
int clinux_thread_stacks(size_t bytes);

/* sched_getaffinity(2): the number of processors that the first thread of a process may use, or -1. */
int clinux_processors(pid_t process);

/* sync_file_range(2): starts to write dirty pages, without waiting. */
int clinux_begin_writing(int descriptor);

/* syncfs(2): makes everything written to a disk durable. */
int clinux_sync_disk(int descriptor);

/* Copies the extended attributes of a file or folder, such as access lists. Ignores attributes that the target's file
 * system or owner does not allow. */
void clinux_copy_attributes(int from, int to);

/* flock(2): takes an exclusive lock, without waiting. */
int clinux_lock(int descriptor);

/* prlimit(2): sets the soft limit of a process, at most to its hard limit. */
int clinux_limit(pid_t process, int resource, uint64_t most);

/* prctl(2) PR_SET_NO_NEW_PRIVS. */
int clinux_no_new_privileges(void);

/* landlock_create_ruleset(2): the version of the kernel's Landlock. */
int clinux_landlock_version(void);

/* landlock_create_ruleset(2): the descriptor of a ruleset. The ruleset denies the accesses whose bits are set, unless a
 * rule allows them. */
int clinux_landlock_ruleset(uint64_t files, uint64_t network, uint64_t scopes);

/* landlock_add_rule(2): allows the access beneath the file or folder that is open as `place`. */
int clinux_landlock_allow(int ruleset, uint64_t access, int place);

/* landlock_restrict_self(2): restricts the calling thread, and threads that it starts from now on. */
int clinux_landlock_restrict(int ruleset);

/* Installs a handler for SIGSYS (sigaction(2)). A call that a seccomp filter traps then fails with `error`, and the
 * handler remembers it.
 *
 * With `opens`, the handler repeats each trapped openat(2) that is for reading, with the flags of clinux_for_reading.
 * The repeated call passes CLINUX_FROM_TRAP as a sixth argument, which the seccomp filter can read and the kernel
 * ignores. The handler then remembers the call only if the kernel's result is `error`.
 *
 * A trapped rt_sigprocmask(2) succeeds, and leaves SIGSYS unblocked. */
int clinux_trap_calls(int error, int opens);
enum { CLINUX_FROM_TRAP = 0x74726170 };
int clinux_for_reading(void);

/* Returns the system call number of the remembered call at `index`, or -1 after the last remembered call. *path is the
 * path of an openat(2), and empty for other calls. */
int clinux_trapped_call(size_t index, const char **path);

void clinux_forget_trapped_calls(void);

/* Installs a handler for the signals of crashes (sigaction(2)). The handler sends a crash note to `socket`, then the
 * signal ends the process. The handler unwinds the stack to find the topmost code that has a note. It sends the note's
 * `memory_text` if no memory is left, and otherwise the note's `text`. A note whose `size` is 0 is for all code that
 * has no other note. The texts are not copied, so they must stay valid. */
int clinux_tell_crashes(int socket);
int clinux_add_crash_note(
    const void *start, size_t size, const void *text, size_t length, const void *memory_text, size_t memory_length);

/* dl_iterate_phdr(3): the range of the code that contains `address`, in any loaded object. */
int clinux_code(const void *address, const void **start, size_t *size);

/* dlsym(3): a function of a loaded library that takes no arguments and returns an address, or NULL. */
const void *(*clinux_entry(void *library, const char *name))(void);

/* dladdr(3): the file of the loaded object that contains `address`, or NULL. */
const char *clinux_file(const void *address);

#endif
