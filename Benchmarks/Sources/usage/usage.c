/* usage LOG COMMAND…: runs a command, and prints its processor time in microseconds and its peak memory in KB. The
 * command's output goes to LOG. This program is small, because a process inherits the memory peak of its parent. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long microseconds(struct timeval time) {
    return time.tv_sec * 1000000 + time.tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        int log = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
        dup2(log, 1);
        dup2(log, 2);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return 1;
    printf("%ld %ld\n", microseconds(usage.ru_utime) + microseconds(usage.ru_stime), usage.ru_maxrss);
    return 0;
}
