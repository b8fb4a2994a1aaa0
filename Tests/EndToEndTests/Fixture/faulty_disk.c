/* A FUSE file system that passes every call on to FOLDER, except for the calls that a test makes fail or hang:
 *
 *     faulty_disk FOLDER MOUNTPOINT
 *
 * Descriptor 3 is the test's socket. Each message is a command:
 *
 *     fail CALL GLOB SKIP COUNT ERROR...   lets SKIP calls pass, then refuses COUNT (all if negative); errors alternate
 *     hang CALL GLOB                       makes these calls wait for the next "clear", and then proceed normally
 *     lack noreplace                       disables renames that must not replace a file
 *     lack link                            disables hard links
 *     lack inodes                          makes inode numbers depend on paths
 *     lack numbers                         makes inode numbers change with each call
 *     lack nothing                         cancels all "lack" commands
 *     clear                                removes all "fail" and "hang" rules, and lets hanging calls proceed
 *     record FILE                          writes every change and every sync to FILE, which DiskRecord.swift reads
 *     mark TEXT                            writes a line with the test's TEXT to that file
 *
 * The server replies with the number of calls that were refused or have hung since the last "clear", or with an error message.
 * It unmounts the file system when the socket is closed. */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fuse.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST 1024

struct rule { char call[16], glob[256]; int skip, count, errors[4], kinds, met, hangs; };
struct handle { int fd; DIR *folder; char path[]; };

static int top;
static const char *mountpoint;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cleared = PTHREAD_COND_INITIALIZER;
static struct rule rules[MOST];
static _Atomic unsigned last_number = 1000;
static int ruled, refused, clears, no_replace, no_link, no_inodes, no_numbers;

/* Held during each change, so that the record lists the changes in the order in which they are made. */
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;

static void note(const char *format, ...) {
    if (!record) return;
    va_list values;
    va_start(values, format);
    vfprintf(record, format, values);
    va_end(values);
    fputc('\n', record);
    fflush(record);
}

/* Evaluates `expression`, which makes a change, and records the change if it succeeds. The recorded values are evaluated after
 * the change. */
#define CHANGE(expression, ...) do { \
        pthread_mutex_lock(&recording); \
        int error = (expression) < 0 ? errno : 0; \
        if (!error) note(__VA_ARGS__); \
        pthread_mutex_unlock(&recording); \
        return -error; \
    } while (0)

static struct stat seen(int folder, const char *path) {
    struct stat status = {0};
    if (record) fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
    return status;
}

/* The inode number of a file or folder, and its modification time in nanoseconds. */
static unsigned long inode(int folder, const char *path) { return seen(folder, path).st_ino; }
static long long modified(int folder, const char *path) {
    struct stat status = seen(folder, path);
    return status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
}

/* The error with which to refuse a call, or 0. For a hanging call, this function returns only after the next "clear". */
static int fault(const char *call, const char *path) {
    int error = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ruled && !error; i++) {
        struct rule *rule = &rules[i];
        if (!rule->count || strcmp(rule->call, call) || fnmatch(rule->glob, path, 0)) continue;
        if (rule->skip > 0) { rule->skip--; continue; }
        if (rule->hangs) {
            int before = clears;
            refused++;
            while (clears == before) pthread_cond_wait(&cleared, &lock);
            break;
        }
        error = rule->errors[rule->met++ % rule->kinds];
        if (rule->count > 0) rule->count--;
        refused++;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

#define REFUSE(call, path) do { int error = fault(call, path); if (error) return -error; } while (0)
#define ANSWER(expression) return (expression) < 0 ? -errno : 0

static const char *below(const char *path) { return path[1] ? path + 1 : "."; }
static struct handle *handle(struct fuse_file_info *info) { return (struct handle *)(uintptr_t)info->fh; }

static int keep(int fd, DIR *folder, const char *path, struct fuse_file_info *info) {
    struct handle *made = malloc(sizeof *made + strlen(path) + 1);
    made->fd = fd;
    made->folder = folder;
    strcpy(made->path, path);
    info->fh = (uintptr_t)made;
    /* Direct I/O would keep SQLite from mapping its shared-memory file, so it is off for that file. */
    info->direct_io = fnmatch("*-shm", path, 0) != 0;
    return 0;
}

static int fs_getattr(const char *path, struct stat *status, struct fuse_file_info *info) {
    if (info && info->fh) path = handle(info)->path;
    REFUSE("getattr", path);
    if ((info && info->fh && handle(info)->fd >= 0 ? fstat(handle(info)->fd, status)
        : fstatat(top, below(path), status, AT_SYMLINK_NOFOLLOW)) < 0) return -errno;
    if (no_inodes) {
        status->st_ino = 5381;
        for (const char *at = path; *at; at++) status->st_ino = status->st_ino * 33 + (unsigned char)*at;
    }
    if (no_numbers) status->st_ino = ++last_number;
    return 0;
}

static int fs_access(const char *path, int mask) { REFUSE("access", path); ANSWER(faccessat(top, below(path), mask, 0)); }
static int fs_mknod(const char *path, mode_t mode, dev_t device) { ANSWER(mknodat(top, below(path), mode, device)); }

static int fs_mkdir(const char *path, mode_t mode) {
    REFUSE("mkdir", path);
    CHANGE(mkdirat(top, below(path), mode), "mkdir\t%lu\t%o\t%s", inode(top, below(path)), mode & 07777, path);
}

static int fs_unlink(const char *path) {
    REFUSE("unlink", path);
    CHANGE(unlinkat(top, below(path), 0), "unlink\t%s", path);
}

static int fs_rmdir(const char *path) {
    REFUSE("rmdir", path);
    CHANGE(unlinkat(top, below(path), AT_REMOVEDIR), "rmdir\t%s", path);
}

static int fs_symlink(const char *to, const char *path) { ANSWER(symlinkat(to, top, below(path))); }

static int fs_readlink(const char *path, char *to, size_t size) {
    ssize_t length = readlinkat(top, below(path), to, size - 1);
    if (length < 0) return -errno;
    to[length] = 0;
    return 0;
}

static int fs_rename(const char *from, const char *to, unsigned flags) {
    REFUSE("rename", from);
    REFUSE("rename", to);
    /* With the fault "renamed", the rename takes effect, but returns an error. */
    int error = fault("renamed", from);
    if (error) return renameat2(top, below(from), top, below(to), flags) < 0 ? -errno : -error;
    if (flags && no_replace) return -EINVAL;
    CHANGE(renameat2(top, below(from), top, below(to), flags), "rename\t%u\t%s\t%s", flags, from, to);
}

static int fs_link(const char *from, const char *to) {
    REFUSE("link", from);
    if (no_link) return -EPERM;
    CHANGE(linkat(top, below(from), top, below(to), 0), "link\t%s\t%s", from, to);
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *info) {
    (void)info;
    CHANGE(fchmodat(top, below(path), mode, 0), "chmod\t%lu\t%o", inode(top, below(path)), mode & 07777);
}

static int fs_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info) {
    (void)info;
    ANSWER(fchownat(top, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int shorten(int fd, off_t size) {
    CHANGE(ftruncate(fd, size), "truncate\t%lu\t%lld\t%lld", inode(fd, ""), modified(fd, ""), (long long)size);
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *info) {
    REFUSE("truncate", path);
    if (info && info->fh) return shorten(handle(info)->fd, size);
    int fd = openat(top, below(path), O_WRONLY);
    if (fd < 0) return -errno;
    int error = shorten(fd, size);
    close(fd);
    return error;
}

static int fs_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info) {
    REFUSE("utimens", path);
    if (info && info->fh) {
        int fd = handle(info)->fd;
        CHANGE(futimens(fd, times), "utimens\t%lu\t%lld", inode(fd, ""), modified(fd, ""));
    }
    CHANGE(utimensat(top, below(path), times, AT_SYMLINK_NOFOLLOW), "utimens\t%lu\t%lld", inode(top, below(path)),
        modified(top, below(path)));
}

static int fs_open(const char *path, struct fuse_file_info *info) {
    REFUSE("open", path);
    int fd = openat(top, below(path), info->flags & ~(O_CREAT | O_EXCL | O_DIRECT | O_TRUNC));
    if (fd < 0) return -errno;
    int error = info->flags & O_TRUNC ? shorten(fd, 0) : 0;
    if (!error) return keep(fd, NULL, path, info);
    close(fd);
    return error;
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *info) {
    REFUSE("create", path);
    pthread_mutex_lock(&recording);
    int fd = openat(top, below(path), info->flags & ~O_DIRECT, mode);
    int error = fd < 0 ? errno : 0;
    if (!error) note("create\t%lu\t%o\t%s", inode(fd, ""), mode & 07777, path);
    pthread_mutex_unlock(&recording);
    return error ? -error : keep(fd, NULL, path, info);
}

static int fs_read(const char *path, char *bytes, size_t size, off_t at, struct fuse_file_info *info) {
    REFUSE("read", handle(info)->path);
    ssize_t got = pread(handle(info)->fd, bytes, size, at);
    return got < 0 ? -errno : (int)got;
}

static int fs_write(const char *path, const char *bytes, size_t size, off_t at, struct fuse_file_info *info) {
    REFUSE("write", handle(info)->path);
    int fd = handle(info)->fd;
    pthread_mutex_lock(&recording);
    ssize_t put = pwrite(fd, bytes, size, at);
    int error = put < 0 ? errno : 0;
    if (!error && record) {
        note("write\t%lu\t%lld\t%lld\t%zd", inode(fd, ""), modified(fd, ""), (long long)at, put);
        fwrite(bytes, 1, put, record);
        note("");
    }
    pthread_mutex_unlock(&recording);
    return error ? -error : (int)put;
}

static int fs_fallocate(const char *path, int mode, off_t at, off_t size, struct fuse_file_info *info) {
    REFUSE("fallocate", handle(info)->path);
    int fd = handle(info)->fd;
    if (mode) return -EOPNOTSUPP;
    CHANGE(fallocate(fd, mode, at, size), "allocate\t%lu\t%lld\t%lld", inode(fd, ""), modified(fd, ""),
        (long long)(at + size));
}

static int fs_flush(const char *path, struct fuse_file_info *info) { REFUSE("flush", handle(info)->path); return 0; }

static int fs_fsync(const char *path, int data, struct fuse_file_info *info) {
    REFUSE("fsync", handle(info)->path);
    CHANGE(0, "sync\t%lu", inode(handle(info)->fd, ""));
}

static int fs_fsyncdir(const char *path, int data, struct fuse_file_info *info) {
    REFUSE("fsyncdir", handle(info)->path);
    CHANGE(0, "sync\t%lu", inode(dirfd(handle(info)->folder), ""));
}

static int fs_release(const char *path, struct fuse_file_info *info) {
    if (handle(info)->folder) closedir(handle(info)->folder);
    else close(handle(info)->fd);
    free(handle(info));
    return 0;
}

static int fs_opendir(const char *path, struct fuse_file_info *info) {
    REFUSE("opendir", path);
    int fd = openat(top, below(path), O_RDONLY | O_DIRECTORY);
    return fd < 0 ? -errno : keep(fd, fdopendir(fd), path, info);
}

static int fs_readdir(const char *path, void *names, fuse_fill_dir_t fill, off_t at, struct fuse_file_info *info,
    enum fuse_readdir_flags flags) {
    REFUSE("readdir", handle(info)->path);
    rewinddir(handle(info)->folder);
    for (struct dirent *entry; (entry = readdir(handle(info)->folder));) fill(names, entry->d_name, NULL, 0, 0);
    return 0;
}

static int fs_statfs(const char *path, struct statvfs *status) { REFUSE("statfs", path); ANSWER(fstatvfs(top, status)); }

/* Executes a command; returns an error message, or NULL. */
static const char *obey(char *command) {
    char *word = strtok(command, " ");
    if (!strcmp(word, "clear")) {
        ruled = refused = 0;
        clears++;
        pthread_cond_broadcast(&cleared);
    } else if (!strcmp(word, "lack")) {
        word = strtok(NULL, " ");
        if (!strcmp(word, "nothing")) no_replace = no_link = no_inodes = no_numbers = 0;
        else if (!strcmp(word, "noreplace")) no_replace = 1;
        else if (!strcmp(word, "link")) no_link = 1;
        else if (!strcmp(word, "inodes")) no_inodes = 1;
        else if (!strcmp(word, "numbers")) no_numbers = 1;
        else return "nothing is known by that name";
    } else if (!strcmp(word, "fail")) {
        if (ruled == MOST) return "there are too many rules";
        struct rule rule = {.kinds = 0};
        snprintf(rule.call, sizeof rule.call, "%s", strtok(NULL, " "));
        snprintf(rule.glob, sizeof rule.glob, "%s", strtok(NULL, " "));
        rule.skip = atoi(strtok(NULL, " "));
        rule.count = atoi(strtok(NULL, " "));
        while (rule.kinds < 4 && (word = strtok(NULL, " "))) rule.errors[rule.kinds++] = atoi(word);
        rules[ruled++] = rule;
    } else if (!strcmp(word, "hang")) {
        if (ruled == MOST) return "there are too many rules";
        struct rule rule = {.count = -1, .hangs = 1};
        snprintf(rule.call, sizeof rule.call, "%s", strtok(NULL, " "));
        snprintf(rule.glob, sizeof rule.glob, "%s", strtok(NULL, " "));
        rules[ruled++] = rule;
    } else if (!strcmp(word, "record")) {
        pthread_mutex_lock(&recording);
        record = fopen(strtok(NULL, ""), "w");
        pthread_mutex_unlock(&recording);
        if (!record) return "the file can't be written";
    } else if (!strcmp(word, "mark")) {
        pthread_mutex_lock(&recording);
        note("mark\t%s", strtok(NULL, ""));
        pthread_mutex_unlock(&recording);
    } else if (strcmp(word, "count")) {
        return "there is no such command";
    }
    return NULL;
}

static void *listen_to_the_test(void *unused) {
    char command[512], answer[64];
    ssize_t length;
    while ((length = recv(3, command, sizeof command - 1, 0)) > 0) {
        command[length] = 0;
        pthread_mutex_lock(&lock);
        const char *wrong = obey(command);
        if (wrong) snprintf(answer, sizeof answer, "%s", wrong);
        else snprintf(answer, sizeof answer, "%d", refused);
        pthread_mutex_unlock(&lock);
        send(3, answer, strlen(answer), MSG_NOSIGNAL);
    }
    umount2(mountpoint, MNT_DETACH);
    _exit(0);
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *configuration) {
    configuration->use_ino = 1;
    configuration->nullpath_ok = 1;
    configuration->hard_remove = 1;
    configuration->attr_timeout = configuration->entry_timeout = configuration->negative_timeout = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, listen_to_the_test, NULL);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init, .getattr = fs_getattr, .access = fs_access, .readlink = fs_readlink, .mknod = fs_mknod,
    .mkdir = fs_mkdir,
    .unlink = fs_unlink, .rmdir = fs_rmdir, .symlink = fs_symlink, .rename = fs_rename, .link = fs_link,
    .chmod = fs_chmod, .chown = fs_chown, .truncate = fs_truncate, .open = fs_open, .create = fs_create, .read = fs_read,
    .write = fs_write, .statfs = fs_statfs, .flush = fs_flush, .release = fs_release, .fsync = fs_fsync,
    .opendir = fs_opendir, .readdir = fs_readdir, .releasedir = fs_release, .fsyncdir = fs_fsyncdir,
    .utimens = fs_utimens, .fallocate = fs_fallocate,
};

int main(int count, char **words) {
    if (count != 3) return 2;
    umask(0);
    top = open(words[1], O_RDONLY | O_DIRECTORY);
    mountpoint = words[2];
    char *arguments[] = {words[0], words[2], "-f", "-o", "allow_other,fsname=faulty", NULL};
    return top < 0 ? 1 : fuse_main(5, arguments, &operations, NULL);
}
