#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* If a process has threads, a forked child may make only the calls that signal-safety(7) lists, until it calls execve.
 * So the code that runs in a child neither allocates memory nor takes a lock. The keeper never calls execve, so this
 * rule applies to all of its code. */

enum { FIRST_FREE = 64 };

static void close_all(unsigned from, unsigned to) {
    if (from <= to)
        syscall(SYS_close_range, from, to, 0);
}

static void block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(how, &set, NULL);
}

/* Replaces this process with the program. If execve fails, writes the error to `problem`. */
static void become(char *const argv[], char *const envp[], const int *streams, int count, int problem) {
    int moved[FIRST_FREE];
    for (int i = 0; i < count; i++)
        moved[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, FIRST_FREE);
    problem = fcntl(problem, F_DUPFD_CLOEXEC, FIRST_FREE);
    for (int i = 0; i < count; i++)
        dup2(moved[i], i);
    close_all(count, problem - 1);
    close_all(problem + 1, ~0U);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(argv[0], argv, envp);
    int error = errno;
    while (write(problem, &error, sizeof error) < 0 && errno == EINTR) {}
    _exit(127);
}

/* Kills all descendants of this process. When a child dies, its own children become children of this process, so the
 * loop reaches them as well. */
static void end_all(void) {
    while (1) {
        char text[4096];
        int children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
        ssize_t length = children < 0 ? 0 : read(children, text, sizeof text);
        close(children);
        pid_t pid = 0;
        for (ssize_t i = 0; i < length; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else {
                if (pid > 0)
                    kill(pid, SIGKILL);
                pid = 0;
            }
        }
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            return;
    }
}

/* Ends this process with the program's exit status, or with the signal that ended the program. */
static void end_like(int status) {
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    signal(WTERMSIG(status), SIG_DFL);
    block(SIG_UNBLOCK, WTERMSIG(status));
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

static void keep(pid_t program) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    while (1) {
        int number = sigwaitinfo(&awaited, NULL);
        if (number == SIGTERM) {
            kill(-program, SIGKILL);
            end_all();
            end_like(SIGKILL);
        }
        pid_t ended;
        int status;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
            if (ended == program)
                end_like(status);
    }
}

int clinux_spawn_kept(pid_t *pid, char *const argv[], char *const envp[], const int *streams, int count) {
    int problem[2];
    if (count > FIRST_FREE || pipe2(problem, O_CLOEXEC) < 0)
        return -1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t keeper = _Fork();
    if (keeper == 0) {
        setpgid(0, 0);
        prctl(PR_SET_NAME, "hook-keeper");
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        /* If SIGCHLD were ignored, the kernel would discard the status of a child that ends. */
        signal(SIGCHLD, SIG_DFL);
        pid_t program = _Fork();
        if (program == 0)
            become(argv, envp, streams, count, problem[1]);
        if (program < 0) {
            int error = errno;
            while (write(problem[1], &error, sizeof error) < 0 && errno == EINTR) {}
            _exit(127);
        }
        close_all(0, ~0U);
        keep(program);
    }
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(problem[1]);
    if (keeper > 0) {
        ssize_t length;
        do
            length = read(problem[0], &error, sizeof error);
        while (length < 0 && errno == EINTR);
        if (length <= 0)
            error = 0;
        else
            waitpid(keeper, NULL, 0);
    }
    close(problem[0]);
    *pid = keeper;
    errno = error;
    return error == 0 ? 0 : -1;
}
