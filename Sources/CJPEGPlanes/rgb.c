#include "CJPEGPlanes.h"

static inline uint8_t limited(int32_t value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

/* The compiler vectorises the loop twice: for processors with AVX2, and for all other processors. */
#if defined(__x86_64__) && defined(__GLIBC__)
__attribute__((target_clones("avx2", "default")))
#endif
void jpeg_planes_rgb(
    const uint8_t *restrict luma, const uint8_t *restrict blue, const uint8_t *restrict red, uint8_t *restrict rgb,
    size_t count) {
    for (size_t i = 0; i < count; i++) {
        int32_t y = luma[i], cb = blue[i] - 128, cr = red[i] - 128;
        rgb[3 * i] = limited(y + ((91881 * cr + 32768) >> 16));
        rgb[3 * i + 1] = limited(y + ((32768 - 22554 * cb - 46802 * cr) >> 16));
        rgb[3 * i + 2] = limited(y + ((116130 * cb + 32768) >> 16));
    }
}
