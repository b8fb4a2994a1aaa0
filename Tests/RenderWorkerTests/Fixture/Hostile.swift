import Foundation
import SystemCalls
import TestTools

/// A filter that behaves like a hijacked decoder: `hostile try=… path=… process=…`.
enum Hostile {
    /// The folder with the plugin, which is compiled once.
    static let folder = Result {
        let folder = try TemporaryFolder()
        try Plugin.compile(source, to: folder.path + "/hostile.so")
        return folder
    }

    static func worker() throws -> WorkerProcess { try WorkerProcess(plugins: [folder.get().path]) }

    /// When an attempt fails, the filter reports the error through `host->fail`. When it succeeds, the filter returns a
    /// valid picture.
    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/mount.h>
        #include <sys/prctl.h>
        #include <sys/ptrace.h>
        #include <sys/resource.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/uio.h>
        #include <sys/un.h>
        #include <sys/xattr.h>
        #include <unistd.h>
        #include <vips/vips.h>
        #include <pipeline_plugin.h>

        static int first_file(int flags) {
            for (int fd = 4; fd < 96; fd++) {
                struct stat status;
                if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 == (flags == O_RDONLY))
                    return fd;
            }
            return -1;
        }

        static void *open_elsewhere(void *path) { return (void *)(long)open(path, O_RDONLY); }

        static long attempt(const char *what, const char *path, pid_t process) {
            char bytes[64] = "hostile", name[64];
            long how[3] = {O_RDWR, 0, 0};
            struct iovec ours = {bytes, sizeof bytes}, theirs = {(void *)bytes, sizeof bytes};
            struct sockaddr_un address = {AF_UNIX, "\\0hostile"};
            struct msghdr message = {&address, sizeof address, &ours, 1};
            struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
            struct timespec times[2] = {{1, 0}, {1, 0}};
            pthread_t thread;
            void *result;
        #define TRY(name, ...) if (strcmp(what, name) == 0) { __VA_ARGS__; }
            TRY("open", return open(path, O_RDWR | O_APPEND))
            TRY("read", return open(path, O_RDONLY))
            TRY("create", return open(path, O_WRONLY | O_CREAT | O_EXCL, 0600))
            TRY("openat2", return syscall(437, AT_FDCWD, path, how, sizeof how))
            TRY("thread", pthread_create(&thread, NULL, open_elsewhere, (void *)path);
                          pthread_join(thread, &result); return (long)result)
            TRY("reopen", snprintf(name, sizeof name, "/proc/self/fd/%d", first_file(O_RDONLY));
                          return open(name, O_RDWR))
            TRY("truncate", return truncate(path, 0))
            TRY("unlink", return unlink(path))
            TRY("rename", return rename(path, "/tmp/hostile"))
            TRY("link", return link(path, "/tmp/hostile"))
            TRY("chmod", return chmod(path, 0777))
            TRY("fchmod", return fchmod(first_file(O_RDONLY), 0777))
            TRY("fchown", return fchown(first_file(O_RDONLY), 1, 1))
            TRY("futimens", return futimens(first_file(O_RDONLY), times))
            TRY("fsetxattr", return fsetxattr(first_file(O_RDONLY), "user.hostile", "1", 1, 0))
            TRY("ftruncate", return ftruncate(first_file(O_RDONLY), 0))
            TRY("memfd_create", return syscall(SYS_memfd_create, "hostile", 0))
            TRY("dumpable", return prctl(PR_SET_DUMPABLE, 0))
            TRY("code", return (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
            TRY("limit", return setrlimit(RLIMIT_FSIZE, &limit))
            TRY("send", return sendmsg(2, &message, 0))
            TRY("ioctl", return syscall(SYS_ioctl, 2, 0x5412, bytes))
            TRY("fill", long sum = 0, got; int fd = first_file(O_RDWR);
                        while ((got = write(fd, bytes, sizeof bytes)) > 0) sum += got; return got)
            TRY("socket", return socket(AF_INET, SOCK_STREAM, 0))
            TRY("abstract", int fd = socket(AF_UNIX, SOCK_DGRAM, 0); return sendmsg(fd, &message, 0))
            TRY("socketpair", int ends[2]; return socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
            TRY("connect", return connect(2, (struct sockaddr *)&address, sizeof address))
            TRY("execve", char *none[] = {NULL}; return execve(path, none, none))
            TRY("fork", return fork())
            TRY("vfork", return syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0))
            TRY("bomb", for (;;) fork())
            TRY("ptrace", return ptrace(PTRACE_ATTACH, process, 0, 0))
            TRY("readv", return process_vm_readv(process, &ours, 1, &theirs, 1, 0))
            TRY("writev", return process_vm_writev(process, &ours, 1, &theirs, 1, 0))
            TRY("kill", return kill(process, SIGKILL))
            TRY("tgkill", return syscall(SYS_tgkill, process, process, SIGKILL))
            TRY("group", return kill(0, SIGKILL))
            TRY("io_uring", char ring[256] = ""; return syscall(425, 4, ring))
            TRY("bpf", return syscall(SYS_bpf, 0, bytes, sizeof bytes))
            TRY("mount", return mount("none", "/", "tmpfs", 0, NULL))
            TRY("unshare", return unshare(CLONE_NEWUSER))
            TRY("seccomp", return prctl(PR_SET_SECCOMP, 1))
        #ifdef __x86_64__
            TRY("numbers", long number = 20; __asm__ volatile("int $0x80" : "+a"(number)); return number)
        #endif
            return 0;
        }

        /// Runs long after `apply`, in a thread of libvips.
        static int open_late(VipsRegion *out, void *sequence, void *in, void *path, gboolean *stop) {
            if (open(path, O_RDONLY) >= 0)
                return vips_region_prepare(sequence, &out->valid) ||
                       vips_region_region(out, sequence, &out->valid, out->valid.left, out->valid.top);
            vips_error("hostile", "no luck");
            return -1;
        }

        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
            if (strcmp(values[0].text, "late") == 0) {
                *out = vips_image_new();
                return vips_image_pipelinev(*out, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL) ||
                       vips_image_generate(*out, vips_start_one, open_late, vips_stop_one,
                                           g_object_ref(in), strdup(values[1].text));
            }
            errno = 0;
            if (attempt(values[0].text, values[1].text, (pid_t)values[2].number) >= 0 && errno == 0)
                return vips_copy(in, out, NULL);
            host->fail(host, strerror(errno));
            return -1;
        }

        static const PipelineParameter parameters[] = {
            {.name = "try", .type = PIPELINE_TEXT, .default_value = "", .help = "what"},
            {.name = "path", .type = PIPELINE_TEXT, .default_value = "", .help = "on which file"},
            {.name = "process", .type = PIPELINE_INTEGER, .maximum = 1e9, .default_value = "0", .help = "on which process"},
        };
        static const PipelineFilter filter = {
            PIPELINE_FILTER_LAYOUT, .name = "hostile", .version = "1", .summary = "a test", .apply = apply,
            .parameter_count = 3, .parameters = parameters,
        };
        const PipelineFilter *pipeline_filter(void) { return &filter; }
        """
}
