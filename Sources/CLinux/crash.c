#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unwind.h>

enum { MOST_NOTES = 256, MEMORY_TRIED = 128 << 20, ALTERNATE_STACK = 64 << 10 };

static struct {
    uintptr_t start, end;
    const void *text[2];
    size_t length[2];
} notes[MOST_NOTES];
static size_t note_count;
static int note_socket = -1;

int clinux_add_crash_note(
    const void *start, size_t size, const void *text, size_t length, const void *memory_text, size_t memory_length) {
    if (note_count == MOST_NOTES) {
        errno = ENOSPC;
        return -1;
    }
    notes[note_count].start = (uintptr_t)start;
    notes[note_count].end = (uintptr_t)start + size;
    notes[note_count].text[0] = text;
    notes[note_count].length[0] = length;
    notes[note_count].text[1] = memory_text;
    notes[note_count].length[1] = memory_length;
    note_count++;
    return 0;
}

struct sought {
    uintptr_t address, start, end;
};

static int compare(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    struct sought *sought = context;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, end = start + object->dlpi_phdr[i].p_memsz;
        if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X))
            continue;
        if (start <= sought->address && sought->address < end) {
            sought->start = start;
            sought->end = end;
            return 1;
        }
    }
    return 0;
}

int clinux_code(const void *address, const void **start, size_t *size) {
    struct sought sought = {.address = (uintptr_t)address};
    if (!dl_iterate_phdr(compare, &sought))
        return -1;
    *start = (const void *)sought.start;
    *size = sought.end - sought.start;
    return 0;
}

const void *(*clinux_entry(void *library, const char *name))(void) {
    return (const void *(*)(void))dlsym(library, name);
}

const char *clinux_file(const void *address) {
    Dl_info object;
    return dladdr(address, &object) ? object.dli_fname : NULL;
}

/* Stops unwinding at the topmost frame whose code has a note. */
static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *found) {
    uintptr_t address = _Unwind_GetIP(frame);
    for (size_t i = 0; i < note_count; i++)
        if (notes[i].start <= address && address < notes[i].end) {
            *(size_t *)found = i;
            return _URC_END_OF_STACK;
        }
    return _URC_NO_REASON;
}

static size_t noted_frame(void) {
    size_t found = note_count;
    _Unwind_Backtrace(look, &found);
    return found;
}

static void on_crash(int number) {
    static atomic_flag is_sent = ATOMIC_FLAG_INIT;
    signal(number, SIG_DFL);
    if (!atomic_flag_test_and_set(&is_sent)) {
        size_t index = noted_frame();
        /* A note whose `size` is 0 is for all code that has no other note. */
        for (size_t i = 0; i < note_count && index == note_count; i++)
            if (notes[i].start == notes[i].end)
                index = i;
        int is_short = mmap(NULL, MEMORY_TRIED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
        if (index < note_count) {
            struct iovec text = {(void *)notes[index].text[is_short], notes[index].length[is_short]};
            struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
            sendmsg(note_socket, &message, MSG_NOSIGNAL);
        }
    }
    raise(number);
}

int clinux_tell_crashes(int socket) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    note_socket = socket;
    /* Unwinds once now, to load the unwinder's code and data. At a crash, there may be no memory left to load them. */
    noted_frame();
    /* Gives the calling thread another stack for signal handlers, because at a crash its own stack may have
     * overflowed. */
    stack_t stack = {.ss_sp = malloc(ALTERNATE_STACK), .ss_size = ALTERNATE_STACK};
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) < 0)
        return -1;
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL) < 0)
            return -1;
    return 0;
}
