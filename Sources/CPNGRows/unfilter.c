#include "unfilter.h"

#include <string.h>

/* A pixel of up to four bytes, in a vector type that compilers support for every processor. Bytes beyond the pixel
 * belong to the next pixel, which overwrites them. */
typedef uint8_t bytes __attribute__((vector_size(4)));
typedef int16_t lanes __attribute__((vector_size(8)));

static inline bytes load(const uint8_t *at) {
    bytes pixel;
    memcpy(&pixel, at, sizeof pixel);
    return pixel;
}

static inline void store(uint8_t *at, bytes pixel) { memcpy(at, &pixel, sizeof pixel); }

static inline lanes wide(bytes pixel) { return __builtin_convertvector(pixel, lanes); }
static inline bytes narrow(lanes pixel) { return __builtin_convertvector(pixel, bytes); }
static inline lanes choose(lanes mask, lanes yes, lanes no) { return (yes & mask) | (no & ~mask); }

/* Returns the neighbour that is nearest to left + above - corner. If several neighbours are equally near, prefers
 * `left`, then `above`, then `corner`. If `corner` does not lie between `left` and `above`, the result is whichever of
 * those two is farther from `corner`. This computation is faster than a comparison of three distances, because fewer of
 * its steps must wait for `left`. */
static inline lanes paeth(lanes left, lanes above, lanes corner) {
    lanes threshold = corner * 3 - above - left;
    lanes is_less = left < above;
    lanes least = choose(is_less, left, above), most = choose(is_less, above, left);
    lanes inner = choose(most <= threshold, least, corner);
    return choose(threshold <= least, most, inner);
}

static inline __attribute__((always_inline)) void unfilter_pixels(
    int filter, size_t step, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t count) {
    if (filter == FILTER_SUB) {
        bytes left = {0};
        for (size_t i = 0; i < count; i += step) store(to + i, left += load(from + i));
    } else if (filter == FILTER_AVERAGE) {
        lanes left = {0};
        for (size_t i = 0; i < count; i += step) {
            left = (((left + wide(load(above + i))) >> 1) + wide(load(from + i))) & 255;
            store(to + i, narrow(left));
        }
    } else {
        lanes left = {0}, corner = {0};
        for (size_t i = 0; i < count; i += step) {
            lanes up = wide(load(above + i));
            left = (paeth(left, up, corner) + wide(load(from + i))) & 255;
            corner = up;
            store(to + i, narrow(left));
        }
    }
}

void png_rows_unfilter(
    int filter, size_t bytes_per_pixel, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t count) {
    if (filter == FILTER_NONE) {
        memcpy(to, from, count);
    } else if (filter == FILTER_UP) {
        for (size_t i = 0; i < count; i++) to[i] = (uint8_t)(from[i] + above[i]);
    } else {
        /* With a constant step and filter, the compiler makes a separate loop for each case. */
        switch (bytes_per_pixel * FILTERS + (size_t)filter) {
#define CASE(step, filter) \
    case step * FILTERS + filter: unfilter_pixels(filter, step, from, above, to, count); break
#define CASES(step) CASE(step, FILTER_SUB); CASE(step, FILTER_AVERAGE); CASE(step, FILTER_PAETH)
            CASES(1);
            CASES(2);
            CASES(3);
            CASES(4);
        }
    }
}
