#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

enum { MOST_DESCRIPTORS = 64 };

ssize_t clinux_find(const void *bytes, size_t length, const void *sought, size_t sought_length) {
    const char *found = memmem(bytes, length, sought, sought_length);
    return found ? found - (const char *)bytes : -1;
}

ssize_t clinux_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count) {
    if (count > MOST_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec part = {(void *)bytes, length};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t clinux_receive(int socket, void *buffer, size_t length, int *descriptors, size_t *count, int *truncated) {
    size_t room = *count < MOST_DESCRIPTORS ? *count : MOST_DESCRIPTORS;
    struct iovec part = {buffer, length};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *count = 0;
    ssize_t received;
    do
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0)
        return received;
    *truncated = (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t came = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < came; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
            if (*count < room) {
                descriptors[(*count)++] = fd;
            } else {
                close(fd);
                *truncated = 1;
            }
        }
    }
    return received;
}

int clinux_rename_noreplace(int folder, const char *from, int target, const char *to) {
    return renameat2(folder, from, target, to, RENAME_NOREPLACE);
}

int clinux_rename_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int clinux_open_beneath(int folder, const char *path, int flags) {
    struct open_how how = {
        .flags = flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd;
    do
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return fd;
}

int clinux_open_at(int folder, const char *path, int flags) {
    int fd;
    do
        fd = openat(folder, path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int clinux_create_at(int folder, const char *path, mode_t mode) {
    int fd;
    do
        fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int clinux_open(const char *path, int flags, mode_t mode) {
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int clinux_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int clinux_pidfd_open(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int clinux_epoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static int change(int epoll, int operation, int descriptor, int writing, uint64_t id) {
    struct epoll_event event = {.events = (writing ? EPOLLOUT : EPOLLIN) | EPOLLONESHOT, .data.u64 = id};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int clinux_epoll_add(int epoll, int descriptor, int writing, uint64_t id) {
    return change(epoll, EPOLL_CTL_ADD, descriptor, writing, id);
}

int clinux_epoll_again(int epoll, int descriptor, int writing, uint64_t id) {
    return change(epoll, EPOLL_CTL_MOD, descriptor, writing, id);
}

int clinux_epoll_remove(int epoll, int descriptor) {
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

int clinux_epoll_wait(int epoll, uint64_t *ids, int count) {
    struct epoll_event events[64];
    int came = epoll_wait(epoll, events, count < 64 ? count : 64, -1);
    for (int i = 0; i < came; i++)
        ids[i] = events[i].data.u64;
    return came;
}

int clinux_memory_file(void) {
    return memfd_create("pipelined", MFD_CLOEXEC);
}

int clinux_spawn(pid_t *pid, char *const argv[], char *const envp[], const int *streams, int count) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < count; i++)
        posix_spawn_file_actions_adddup2(&actions, streams[i], i);
    posix_spawn_file_actions_addclosefrom_np(&actions, count);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(pid, argv[0], &actions, &attributes, argv, envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    errno = error;
    return error == 0 ? 0 : -1;
}

int clinux_end_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int clinux_stopped(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, pid, &info, WSTOPPED | WNOHANG) < 0 ? -1 : info.si_status;
}

int clinux_peer(int socket, uid_t *user, pid_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        return -1;
    *user = peer.uid;
    *process = peer.pid;
    return 0;
}

int clinux_terminal_columns(int terminal) {
    struct winsize size;
    return ioctl(terminal, TIOCGWINSZ, &size) < 0 ? -1 : size.ws_col;
}

int clinux_terminal_rows(int terminal) {
    struct winsize size;
    return ioctl(terminal, TIOCGWINSZ, &size) < 0 ? -1 : size.ws_row;
}

int clinux_open_for_writing(int descriptor) {
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(descriptor, F_SETLEASE, F_UNLCK);
        return 0;
    }
    return errno == EAGAIN ? 1 : -1;
}

int clinux_character_columns(uint32_t character) {
    return wcwidth((wchar_t)character);
}

int clinux_thread_stacks(size_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    errno = pthread_attr_setstacksize(&attributes, bytes);
    if (errno == 0)
        errno = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return errno == 0 ? 0 : -1;
}

int clinux_begin_writing(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int clinux_lock(int descriptor) {
    return flock(descriptor, LOCK_EX | LOCK_NB);
}

int clinux_limit(pid_t process, int resource, uint64_t most) {
    struct rlimit limit;
    if (prlimit(process, resource, NULL, &limit) < 0)
        return -1;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    return prlimit(process, resource, &limit, NULL);
}

int clinux_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Debian 12's glibc wraps none of these calls, and its linux/landlock.h knows only the first version. */
enum {
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE = 445,
    LANDLOCK_RESTRICT_SELF = 446,
    LANDLOCK_VERSION = 1,
    LANDLOCK_PATH_BENEATH = 1,
};

int clinux_landlock_version(void) {
    return (int)syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);
}

int clinux_landlock_ruleset(uint64_t files, uint64_t network, uint64_t scopes) {
    /* An older kernel accepts unknown fields as long as they are 0. */
    uint64_t handled[] = {files, network, scopes};
    return (int)syscall(LANDLOCK_CREATE_RULESET, handled, sizeof handled, 0);
}

int clinux_landlock_allow(int ruleset, uint64_t access, int place) {
    struct {
        uint64_t access;
        int32_t place;
    } __attribute__((packed)) rule = {access, place};
    return (int)syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0);
}

int clinux_landlock_restrict(int ruleset) {
    return (int)syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
}

enum { MOST_TRAPPED = 16, FOR_READING = O_RDONLY | O_CLOEXEC };

static int trap_error;
static int trap_opens;
static atomic_size_t trapped_count;
static struct {
    atomic_int number;
    char path[256];
} trapped[MOST_TRAPPED];

/* Does the work of rt_sigprocmask(2) on the signal mask of the interrupted code. Never blocks SIGSYS, which reports
 * trapped calls: otherwise the next trapped call would end the process. */
static long change_mask(ucontext_t *code, int how, const unsigned long *set, unsigned long *old) {
    unsigned long *mask = (unsigned long *)&code->uc_sigmask, before = *mask;
    if (set != NULL) {
        switch (how) {
        case SIG_BLOCK: *mask |= *set; break;
        case SIG_UNBLOCK: *mask &= ~*set; break;
        case SIG_SETMASK: *mask = *set; break;
        default: return -EINVAL;
        }
    }
    *mask &= ~(1ul << (SIGSYS - 1));
    if (old != NULL)
        *old = before;
    return 0;
}

static void on_trapped(int signal, siginfo_t *information, void *context) {
    (void)signal;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    int first = (int)machine->gregs[REG_RDI];
    unsigned long third = (unsigned long)machine->gregs[REG_RDX];
    const char *second = (const char *)machine->gregs[REG_RSI];
    greg_t *result = &machine->gregs[REG_RAX];
#elif defined(__aarch64__)
    int first = (int)machine->regs[0];
    unsigned long third = machine->regs[2];
    const char *second = (const char *)machine->regs[1];
    unsigned long long *result = &machine->regs[0];
#else
#error "where does this machine keep the result and the arguments of a system call?"
#endif
    if (information->si_syscall == SYS_rt_sigprocmask) {
        *result = (unsigned long)change_mask(context, first, (const unsigned long *)second, (unsigned long *)third);
        return;
    }
    int before = errno;
    int changes = (int)third & (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_PATH | (O_TMPFILE & ~O_DIRECTORY));
    *result = (unsigned long)-trap_error;
    if (trap_opens && information->si_syscall == SYS_openat && !changes) {
        long file = syscall(SYS_openat, (long)first, second, (long)FOR_READING, 0L, 0L, (long)CLINUX_FROM_TRAP);
        *result = (unsigned long)(file < 0 ? -errno : file);
    }
    errno = before;
    if ((long)*result != -trap_error)
        return;
    size_t index = atomic_fetch_add(&trapped_count, 1);
    if (index >= MOST_TRAPPED)
        return;
    size_t length = 0;
    if (information->si_syscall == SYS_openat)
        for (; length < sizeof trapped[index].path - 1 && second[length] != 0; length++)
            trapped[index].path[length] = second[length];
    trapped[index].path[length] = 0;
    atomic_store(&trapped[index].number, information->si_syscall);
}

int clinux_for_reading(void) {
    return FOR_READING;
}

int clinux_trap_calls(int error, int opens) {
    struct sigaction action = {.sa_sigaction = on_trapped, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    trap_error = error;
    trap_opens = opens;
    return sigaction(SIGSYS, &action, NULL);
}

int clinux_trapped_call(size_t index, const char **path) {
    if (index >= MOST_TRAPPED || index >= atomic_load(&trapped_count))
        return -1;
    int number = atomic_load(&trapped[index].number);
    *path = trapped[index].path;
    return number;
}

void clinux_forget_trapped_calls(void) {
    atomic_store(&trapped_count, 0);
}

int clinux_processors(pid_t process) {
    cpu_set_t set;
    return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

int clinux_sync_disk(int descriptor) { return syncfs(descriptor); }

void clinux_copy_attributes(int from, int to) {
    char names[4096];
    char value[65536]; /* XATTR_SIZE_MAX */
    ssize_t length = flistxattr(from, names, sizeof names);
    for (ssize_t at = 0; at < length; at += strlen(names + at) + 1) {
        ssize_t size = fgetxattr(from, names + at, value, sizeof value);
        if (size >= 0) (void)!fsetxattr(to, names + at, value, size, 0);
    }
}
