/* Interposes on a program's allocator, to make one allocation fail. A test chooses which one.
 *
 *     LD_PRELOAD=scarce_memory.so SCARCE_MEMORY=FILE program ...
 *
 * FILE is shared with the test while the program runs: see `struct wish`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct wish {
    _Atomic long least;   /* the minimum size of allocations to count; 0 counts none */
    _Atomic long refused; /* the number of the allocation to refuse; 0 refuses none */
    _Atomic long met;     /* the number of allocations counted so far */
};

static struct wish *wish;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("SCARCE_MEMORY"), O_RDWR);
    void *shared = mmap(NULL, sizeof *wish, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) abort();
    close(file);
    wish = shared;
}

static int is_refused(size_t size) {
    if (!wish || !wish->least || size < (size_t)wish->least) return 0;
    return ++wish->met == wish->refused;
}

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static void *none(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) { return is_refused(size) ? none() : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_refused(count * size) ? none() : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return is_refused(size) ? none() : __libc_realloc(old, size); }
void *memalign(size_t border, size_t size) { return is_refused(size) ? none() : __libc_memalign(border, size); }
void *aligned_alloc(size_t border, size_t size) { return memalign(border, size); }

int posix_memalign(void **memory, size_t border, size_t size) {
    void *made = memalign(border, size);
    if (made) *memory = made;
    return made ? 0 : ENOMEM;
}
