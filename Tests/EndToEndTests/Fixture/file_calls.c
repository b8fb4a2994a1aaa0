/* Interposes on a program's calls into the C library, including the calls by SQLite and Foundation. Records the calls
 * on files, and changes their results as a test demands.
 *
 *     LD_PRELOAD=file_calls.so FILE_CALLS_RULES=RULES FILE_CALLS_RECORD=FILE pipelined ...
 *
 * Each line of RULES is a rule, with words separated by tabs:
 *
 *     CALL,...  ACTION  FIRST  STEP  PATH
 *
 * A rule counts the calls on PATH, or on every path if PATH is empty. It acts on call number FIRST, and on every STEPth call
 * after it unless STEP is 0. A call that names a file within an open folder counts for both the file and the folder. ACTION is
 *
 *     kill        kills the program before the call
 *     hang PIPE   delays the call until the named pipe PIPE is opened for writing
 *     NUMBER      makes the call fail with this error, without executing it
 *
 * For each call, FILE gets two lines. The first has the thread, `begin`, the call, its first and second path, and the written
 * bytes or the mode of an open. The second has the thread, `end`, the call, and its error. An open that creates no file is
 * omitted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_RULES 64
#define MOST_TEXT 5000

struct rule { char *calls, *action, *path; int first, step; atomic_int met; };

static struct rule rules[MOST_RULES];
static int ruled, record = -1;

/* A file's absolute path. If the call named the file relative to an open folder, as openat can, `folder` is that
 * folder's path. */
struct spot { char path[PATH_MAX], folder[PATH_MAX]; };

__attribute__((constructor)) static void begin(void) {
    /* The program's children must not load this library. */
    unsetenv("LD_PRELOAD");
    const char *file = getenv("FILE_CALLS_RECORD");
    if (file) {
        int fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        record = fcntl(fd, F_DUPFD_CLOEXEC, 900);
        syscall(SYS_close, fd);
    }
    char *text = getenv("FILE_CALLS_RULES"), *rest = text && *text ? strdup(text) : NULL;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct rule *rule = &rules[ruled];
        char *calls = strsep(&line, "\t"), *action = strsep(&line, "\t");
        char *first = strsep(&line, "\t"), *step = strsep(&line, "\t");
        if (!line || ruled == MOST_RULES) abort();
        *rule = (struct rule){calls, action, line, atoi(first), atoi(step), 0};
        ruled++;
    }
}

static int names(const char *calls, const char *call) {
    size_t length = strlen(call);
    for (const char *at = calls; (at = strstr(at, call)); at += length)
        if ((at == calls || at[-1] == ',') && (!at[length] || at[length] == ',')) return 1;
    return 0;
}

static int is_on(const struct rule *rule, const struct spot *spot) {
    return spot && (!strcmp(rule->path, spot->path) || !strcmp(rule->path, spot->folder));
}

static void say(const char *format, ...) {
    char line[4 * PATH_MAX + MOST_TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && length < (int)sizeof line) syscall(SYS_write, record, line, length);
}

/* Applies the rules to a call. Returns the error with which the call should fail, or 0 to execute it. */
static int met(const char *call, const struct spot *from, const struct spot *to) {
    for (int i = 0; i < ruled; i++) {
        struct rule *rule = &rules[i];
        if (!names(rule->calls, call) || (*rule->path && !is_on(rule, from) && !is_on(rule, to))) continue;
        int past = atomic_fetch_add(&rule->met, 1) + 1 - rule->first;
        if (past < 0 || (past > 0 && (!rule->step || past % rule->step))) continue;
        if (!strcmp(rule->action, "kill")) {
            syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
            for (;;) pause();
        }
        if (strncmp(rule->action, "hang ", 5)) return atoi(rule->action);
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, rule->action + 5, O_RDONLY));
    }
    return 0;
}

static long begun(const char *call, const struct spot *from, const struct spot *to, const char *text, int is_kept) {
    if (record >= 0 && is_kept)
        say("%ld\tbegin\t%s\t%s\t%s\t%s\n", syscall(SYS_gettid), call, from ? from->path : "", to ? to->path : "", text);
    int error = met(call, from, to);
    if (error) errno = error;
    return error ? -1 : 0;
}

static void ended(const char *call, long answer, int is_kept) {
    int error = errno;
    if (record >= 0 && is_kept) say("%ld\tend\t%s\t%d\n", syscall(SYS_gettid), call, answer < 0 ? error : 0);
    errno = error;
}

/* Finds the path of an open file or folder. */
static void path_of(int fd, char path[PATH_MAX]) {
    char link[64];
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    errno = error;
}

static const struct spot *open_file(int fd, struct spot *spot) {
    path_of(fd, spot->path);
    spot->folder[0] = 0;
    return spot;
}

static const struct spot *named(int folder, const char *name, struct spot *spot) {
    spot->folder[0] = 0;
    if (folder != AT_FDCWD && name && name[0] != '/') path_of(folder, spot->folder);
    int length = snprintf(
        spot->path, sizeof spot->path, "%s%s%s", spot->folder, spot->folder[0] ? "/" : "", name ? name : "");
    if (length >= (int)sizeof spot->path) spot->path[0] = 0;
    return spot;
}

static const char *printable(const char *bytes, size_t count, char text[MOST_TEXT]) {
    if (count >= MOST_TEXT) count = MOST_TEXT - 1;
    for (size_t i = 0; i < count; i++) text[i] = bytes[i] >= ' ' && bytes[i] < 127 ? bytes[i] : '.';
    text[count] = 0;
    return text;
}

#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The body of a function that replaces the C library's function `name`. `call` is the name of the system call. */
#define MADE(call, from, to, text, is_kept, name, ...) \
    NEXT(name); \
    int kept = is_kept; \
    long answer = begun(call, from, to, text, kept) ? -1 : next(__VA_ARGS__); \
    ended(call, answer, kept); \
    return answer

#define TWO struct spot one, two; (void)two

int mkdir(const char *path, mode_t mode) { TWO; MADE("mkdir", named(AT_FDCWD, path, &one), 0, "", 1, mkdir, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) {
    TWO; MADE("mkdirat", named(at, path, &one), 0, "", 1, mkdirat, at, path, mode);
}
int rmdir(const char *path) { TWO; MADE("rmdir", named(AT_FDCWD, path, &one), 0, "", 1, rmdir, path); }
int unlink(const char *path) { TWO; MADE("unlink", named(AT_FDCWD, path, &one), 0, "", 1, unlink, path); }
int unlinkat(int at, const char *path, int flags) {
    TWO; MADE("unlinkat", named(at, path, &one), 0, "", 1, unlinkat, at, path, flags);
}
int rename(const char *from, const char *to) {
    TWO; MADE("rename", named(AT_FDCWD, from, &one), named(AT_FDCWD, to, &two), "", 1, rename, from, to);
}
int renameat(int at, const char *from, int there, const char *to) {
    TWO; MADE("renameat", named(at, from, &one), named(there, to, &two), "", 1, renameat, at, from, there, to);
}
int renameat2(int at, const char *from, int there, const char *to, unsigned flags) {
    TWO; MADE("renameat2", named(at, from, &one), named(there, to, &two), "", 1, renameat2, at, from, there, to, flags);
}
int link(const char *from, const char *to) {
    TWO; MADE("link", named(AT_FDCWD, from, &one), named(AT_FDCWD, to, &two), "", 1, link, from, to);
}
int linkat(int at, const char *from, int there, const char *to, int flags) {
    TWO; MADE("linkat", named(at, from, &one), named(there, to, &two), "", 1, linkat, at, from, there, to, flags);
}
int fsync(int fd) { TWO; MADE("fsync", open_file(fd, &one), 0, "", 1, fsync, fd); }
int fdatasync(int fd) { TWO; MADE("fdatasync", open_file(fd, &one), 0, "", 1, fdatasync, fd); }
int ftruncate(int fd, off_t size) { TWO; MADE("ftruncate", open_file(fd, &one), 0, "", 1, ftruncate, fd, size); }
int ftruncate64(int fd, off64_t size) { TWO; MADE("ftruncate", open_file(fd, &one), 0, "", 1, ftruncate64, fd, size); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    TWO; char text[MOST_TEXT];
    MADE("pwrite64", open_file(fd, &one), 0, printable(bytes, count, text), 1, pwrite, fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    TWO; char text[MOST_TEXT];
    MADE("pwrite64", open_file(fd, &one), 0, printable(bytes, count, text), 1, pwrite64, fd, bytes, count, at);
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
#define IS_MADE(flags) (((flags) & (O_CREAT | O_TRUNC)) != 0)

int open(const char *path, int flags, ...) {
    TWO; MODE(flags) MADE("openat", named(AT_FDCWD, path, &one), 0, "", IS_MADE(flags), open, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    TWO; MODE(flags) MADE("openat", named(AT_FDCWD, path, &one), 0, "", IS_MADE(flags), open64, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    TWO; MODE(flags) MADE("openat", named(at, path, &one), 0, "", IS_MADE(flags), openat, at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    TWO; MODE(flags) MADE("openat", named(at, path, &one), 0, "", IS_MADE(flags), openat64, at, path, flags, mode);
}
