#include "CPNGRows.h"

#include <string.h>

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint32_t sums __attribute__((vector_size(16)));

static inline uint8_t luma_of(const uint8_t *rgb) {
    return (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
}

/* Converts four pixels at a time, each in a lane of its own. Each step also reads the 4 bytes after its pixels. Returns
 * the number of converted pixels. */
static inline __attribute__((always_inline)) size_t convert(const uint8_t *rgb, uint8_t *luma, size_t count) {
    size_t i = 0;
    for (; i + 6 <= count; i += 4) {
        bytes pixels, none = {0};
        memcpy(&pixels, rgb + 3 * i, sizeof pixels);
#define LANES(first) \
    (sums) __builtin_shufflevector( \
        pixels, none, first, 16, 16, 16, 3 + first, 16, 16, 16, 6 + first, 16, 16, 16, 9 + first, 16, 16, 16)
        sums sum = LANES(0) * 19595 + (LANES(1) * 19235 << 1) + LANES(2) * 7471 + 32768;
        bytes result = (bytes)(sum >> 16);
        bytes four = __builtin_shufflevector(result, none, 0, 4, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16);
        memcpy(luma + i, &four, 4);
    }
    return i;
}

#ifdef __x86_64__
static __attribute__((target("ssse3"))) size_t convert_ssse3(const uint8_t *rgb, uint8_t *luma, size_t count) {
    return convert(rgb, luma, count);
}
#endif

void png_rows_luma(const uint8_t *rgb, uint8_t *luma, size_t count) {
    size_t done;
#ifdef __x86_64__
    done = __builtin_cpu_supports("ssse3") ? convert_ssse3(rgb, luma, count) : 0;
#else
    done = convert(rgb, luma, count);
#endif
    for (size_t i = done; i < count; i++) luma[i] = luma_of(rgb + 3 * i);
}
