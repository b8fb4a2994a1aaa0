#include "filter.h"
#include "unfilter.h"

#include <string.h>

/* The Paeth predictor; paeth() in unfilter.c explains the steps. */
static inline uint8_t paeth(int16_t left, int16_t above, int16_t corner) {
    int16_t threshold = (int16_t)(corner * 3 - above - left);
    int16_t least = left < above ? left : above, most = left < above ? above : left;
    int16_t inner = most <= threshold ? least : corner;
    return (uint8_t)(threshold <= least ? most : inner);
}

/* Applies a filter to a row. Returns the sum of the result's distances from zero. */
static inline __attribute__((always_inline)) uint64_t filter_row(
    int filter, size_t step, const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict to,
    size_t count) {
    uint64_t total = 0;
    /* Processes the row in parts, so that the sum of each part fits into 32 bits. */
    for (size_t start = 0; start < count; start += 1 << 16) {
        size_t end = start + (1 << 16) < count ? start + (1 << 16) : count;
        uint32_t sum = 0;
        for (size_t i = start; i < end; i++) {
            uint8_t left = row[(ptrdiff_t)(i - step)], up = above[i], corner = above[(ptrdiff_t)(i - step)];
            uint8_t value = (uint8_t)(
                row[i]
                - (filter == FILTER_SUB       ? left
                   : filter == FILTER_UP      ? up
                   : filter == FILTER_AVERAGE ? (uint8_t)((left + up) >> 1)
                   : filter == FILTER_PAETH   ? paeth(left, up, corner)
                                              : 0));
            to[i] = value;
            sum += value < 128 ? value : 256u - value;
        }
        total += sum;
    }
    return total;
}

static inline __attribute__((always_inline)) void choose(
    size_t step, const uint8_t *row, const uint8_t *above, uint8_t *to, uint8_t *other, size_t count) {
    uint8_t *best = to, *next = other;
    uint64_t least = UINT64_MAX;
#define TRY(filter) \
    do { \
        next[0] = filter; \
        uint64_t sum = filter_row(filter, step, row, above, next + 1, count); \
        if (sum < least) { \
            uint8_t *free = best; \
            least = sum, best = next, next = free; \
        } \
    } while (0)
    TRY(FILTER_NONE);
    TRY(FILTER_SUB);
    TRY(FILTER_UP);
    TRY(FILTER_AVERAGE);
    TRY(FILTER_PAETH);
    if (best != to) memcpy(to, best, 1 + count);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void choose_avx2(
    size_t step, const uint8_t *row, const uint8_t *above, uint8_t *to, uint8_t *other, size_t count) {
    choose(step, row, above, to, other, count);
}
#endif

void png_rows_filter(
    size_t bytes_per_pixel, const uint8_t *row, const uint8_t *above, uint8_t *to, uint8_t *other, size_t count) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        choose_avx2(bytes_per_pixel, row, above, to, other, count);
        return;
    }
#endif
    choose(bytes_per_pixel, row, above, to, other, count);
}
