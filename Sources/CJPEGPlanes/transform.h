/* Inverse transforms in vector code. Their results equal those of libjpeg's jidctint.c and jidctred.c bit for bit. */
#pragma once

#include "decoder.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Silence -Wpsabi: only inlined functions have vectors as arguments, so the ABI of vector arguments does not matter. */
#pragma clang diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

/* A vector of eight 16-bit words, and a vector of eight pairs of words. Sums have 32 bits. They are unsigned, because a
 * damaged file can make them overflow. */
typedef int16_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(8)));
typedef uint8_t sixteen_bytes __attribute__((vector_size(16)));
typedef uint16_t pairs __attribute__((vector_size(32)));
typedef uint32_t sums __attribute__((vector_size(32)));
typedef int32_t signed_sums __attribute__((vector_size(32)));
typedef uint32_t sums4 __attribute__((vector_size(16)));
typedef int32_t signed_sums4 __attribute__((vector_size(16)));

#define LOW(x) __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)
#define ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

/* Multiplies the values of each pair by two weights, and adds the products, for four or eight pairs. */
#ifdef __x86_64__
#define WEIGHTS(a, b) (int32_t)((uint16_t)(a) | (uint32_t)(uint16_t)(b) << 16)
#define WEIGHED4(x, a, b) (sums4)_mm_madd_epi16((__m128i)(x), _mm_set1_epi32(WEIGHTS(a, b)))
#else
#define EVEN(x) __builtin_convertvector(__builtin_shufflevector(x, x, 0, 2, 4, 6), signed_sums4)
#define ODD(x) __builtin_convertvector(__builtin_shufflevector(x, x, 1, 3, 5, 7), signed_sums4)
#define WEIGHED4(x, a, b) ((sums4)(EVEN((words)(x)) * (a)) + (sums4)(ODD((words)(x)) * (b)))
#endif
#ifdef HAS_AVX2
#define WEIGHED(x, a, b) (sums)_mm256_madd_epi16((__m256i)(x), _mm256_set1_epi32(WEIGHTS(a, b)))
#else
#define WEIGHED(x, a, b) \
    __builtin_shufflevector(WEIGHED4(LOW(x), a, b), WEIGHED4(HIGH(x), a, b), 0, 1, 2, 3, 4, 5, 6, 7)
#endif

INLINE uint8_t sample(int32_t value) {
    int32_t centred = value + 128;
    return (uint8_t)(centred < 0 ? 0 : centred > 255 ? 255 : centred);
}

/* Converts sums to words, with saturation. The magnitude of a saturated word still exceeds MOST_PEAK, so `note_peaks`
 * notices it. */
INLINE words narrowed(signed_sums values) {
    const signed_sums least = {-32768, -32768, -32768, -32768, -32768, -32768, -32768, -32768};
    values = __builtin_elementwise_min(__builtin_elementwise_max(values, least), ~least);
    return __builtin_convertvector(values, words);
}

INLINE bytes limited(words values) {
    const words most = {255, 255, 255, 255, 255, 255, 255, 255};
    return __builtin_convertvector(__builtin_elementwise_min(__builtin_elementwise_max(values, most & 0), most), bytes);
}

INLINE words amount(words values) { return values ^ values >> 15; }

INLINE void note_peaks(uint16_t *peaks, words amounts) {
    words all;
    memcpy(&all, peaks, sizeof all);
    all |= amounts;
    memcpy(peaks, &all, sizeof all);
}

/* Coefficients of two rows, dequantized. */
INLINE pairs rows(const int16_t *block, const int16_t *quantizers, int number) {
    pairs coefficients, factors;
    memcpy(&coefficients, block + 16 * number, sizeof coefficients);
    memcpy(&factors, quantizers + 16 * number, sizeof factors);
    return coefficients * factors;
}

/* Transposes eight lines of up to eight values. */
INLINE void turn(words lines[8]) {
    for (int pass = 0; pass < 3; pass++) {
        words from[8];
        memcpy(from, lines, sizeof from);
        for (int i = 0; i < 4; i++) {
            lines[2 * i] = ZIP_LOW(from[i], from[i + 4]);
            lines[2 * i + 1] = ZIP_HIGH(from[i], from[i + 4]);
        }
    }
}

/* Computes four values from eight coefficients, for four or eight lines at a time. Coefficient 4 is not used. */
#define LINE4(type, weighed, in, rounding, out) \
    { \
        type even = weighed(in[0], 16384, 0) + (rounding), turned = weighed(in[1], 15137, -6270); \
        type outer = weighed(in[2], 20995, -4926) + weighed(in[3], 7373, -4176); \
        type inner = weighed(in[2], 8697, 11893) + weighed(in[3], -17799, -1730); \
        out[0] = even + turned + outer, out[3] = even + turned - outer; \
        out[1] = even - turned + inner, out[2] = even - turned - inner; \
    }

INLINE void line8(const pairs in[4], uint32_t rounding, sums out[8]) {
    sums sum = WEIGHED(in[0], 8192, 8192) + rounding, difference = WEIGHED(in[0], 8192, -8192) + rounding;
    sums outer = WEIGHED(in[1], 10703, 4433), inner = WEIGHED(in[1], 4433, -10704);
    sums odd0 = WEIGHED(in[2], 11363, 6437) + WEIGHED(in[3], 9633, 2260);
    sums odd1 = WEIGHED(in[2], 9633, -11362) + WEIGHED(in[3], -2259, -6436);
    sums odd2 = WEIGHED(in[2], 6437, 2261) + WEIGHED(in[3], -11362, 9633);
    sums odd3 = WEIGHED(in[2], 2260, 9633) + WEIGHED(in[3], -6436, -11363);
    out[0] = sum + outer + odd0, out[7] = sum + outer - odd0;
    out[1] = difference + inner + odd1, out[6] = difference + inner - odd1;
    out[2] = difference - inner + odd2, out[5] = difference - inner - odd2;
    out[3] = sum - outer + odd3, out[4] = sum - outer - odd3;
}

INLINE void transform8(const int16_t *block, const int16_t *quantizers, uint8_t *to, size_t stride, uint16_t *peaks) {
    pairs in[4];
    sums out[8];
    words lines[8], amounts = {0};
    for (int i = 0; i < 4; i++) {
        in[i] = rows(block, quantizers, i);
        amounts |= amount((words)LOW(in[i])) | amount((words)HIGH(in[i]));
    }
    line8(in, 1 << 10, out);
    for (int i = 0; i < 8; i++) {
        lines[i] = narrowed((signed_sums)out[i] >> 11);
        amounts |= amount(lines[i]);
    }
    note_peaks(peaks, amounts);
    turn(lines);
    static const int first[4] = {0, 2, 1, 3};
    for (int i = 0; i < 4; i++) {
        words a = lines[first[i]], b = lines[first[i] + 4];
        in[i] = (pairs)JOIN(ZIP_LOW(a, b), ZIP_HIGH(a, b));
    }
    line8(in, (1 << 17) + (128 << 18), out);
    for (int i = 0; i < 8; i++) lines[i] = narrowed((signed_sums)out[i] >> 18);
    turn(lines);
    for (size_t y = 0; y < 8; y++) {
        bytes samples = limited(lines[y]);
        memcpy(to + y * stride, &samples, sizeof samples);
    }
}

INLINE void transform4(const int16_t *block, const int16_t *quantizers, uint8_t *to, size_t stride, uint16_t *peaks) {
    pairs in[4];
    sums out[4];
    words lines[4], amounts = {0};
    for (int i = 0; i < 4; i++) in[i] = rows(block, quantizers, i);
    LINE4(sums, WEIGHED, in, 1 << 11, out)
    for (int i = 0; i < 4; i++) {
        lines[i] = narrowed((signed_sums)out[i] >> 12);
        amounts |= amount(lines[i]);
    }
    note_peaks(peaks, amounts);
    words low02 = ZIP_LOW(lines[0], lines[2]), high02 = ZIP_HIGH(lines[0], lines[2]);
    words low13 = ZIP_LOW(lines[1], lines[3]), high13 = ZIP_HIGH(lines[1], lines[3]);
    words columns01 = ZIP_LOW(low02, low13), columns23 = ZIP_HIGH(low02, low13);
    words columns45 = ZIP_LOW(high02, high13), columns67 = ZIP_HIGH(high02, high13);
    words columns[4] = {
        ZIP_LOW(columns01, columns45), ZIP_LOW(columns23, columns67),
        ZIP_HIGH(columns01, columns45), ZIP_HIGH(columns23, columns67),
    };
    sums4 left[4];
    LINE4(sums4, WEIGHED4, columns, (1 << 18) + (128 << 19), left)
    sums left01 = __builtin_shufflevector(left[0], left[1], 0, 1, 2, 3, 4, 5, 6, 7);
    sums left23 = __builtin_shufflevector(left[2], left[3], 0, 1, 2, 3, 4, 5, 6, 7);
    bytes samples01 = limited(narrowed((signed_sums)left01 >> 19));
    bytes samples23 = limited(narrowed((signed_sums)left23 >> 19));
    sixteen_bytes all =
        __builtin_shufflevector(samples01, samples23, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    uint8_t samples[16];
    memcpy(samples, &all, sizeof samples);
    for (size_t y = 0; y < 4; y++) memcpy(to + y * stride, samples + 4 * y, 4);
}

/* Transforms a block to 2 × 2 samples. In each direction, the coefficients 2, 4 and 6 are not used. */
INLINE void transform2(const int16_t *block, const int16_t *quantizers, uint8_t *to, size_t stride, uint16_t *peaks) {
    sums even = 2 * (WEIGHED(rows(block, quantizers, 0), 16384, 0)) + (1 << 12);
    sums odd = WEIGHED(rows(block, quantizers, 2), 29692, 6967) + WEIGHED(rows(block, quantizers, 3), -10426, -5906);
    words lines[2] = {narrowed((signed_sums)(even + odd) >> 13), narrowed((signed_sums)(even - odd) >> 13)};
    note_peaks(peaks, amount(lines[0]) | amount(lines[1]));
    for (size_t y = 0; y < 2; y++) {
        words line = lines[y];
        uint32_t sum = ((uint32_t)line[0] << 15) + (1 << 19);
        uint32_t difference = (uint32_t)(line[1] * 29692) - (uint32_t)(line[3] * 10426);
        difference += (uint32_t)(line[5] * 6967) - (uint32_t)(line[7] * 5906);
        to[y * stride] = sample((int32_t)(sum + difference) >> 20);
        to[y * stride + 1] = sample((int32_t)(sum - difference) >> 20);
    }
}

INLINE void transform(int side, bool is_flat, const int16_t *block, const int16_t *quantizers, uint8_t *to,
    size_t stride, uint16_t *peaks
) {
    if (is_flat || side == 1) {
        uint8_t value = sample((block[0] * quantizers[0] + 4) >> 3);
        for (int y = 0; y < side; y++) memset(to + (size_t)y * stride, value, (size_t)side);
    } else if (side == 8) {
        transform8(block, quantizers, to, stride, peaks);
    } else if (side == 4) {
        transform4(block, quantizers, to, stride, peaks);
    } else {
        transform2(block, quantizers, to, stride, peaks);
    }
}

INLINE int smaller(int a, int b) { return a < b ? a : b; }

/* Transforms the blocks of the group at x, y, and writes the samples that lie within the planes. `is_inside` is true if
 * all samples lie within the planes. */
INLINE void transform_group(decoder *decoder, int side, int x, int y, bool is_inside, unsigned flat) {
    for (int i = 0; i < decoder->group_count; i++) {
        const group_block *place = &decoder->group[i];
        if (!place->is_wanted) break;
        const jpeg_plane *plane = &decoder->planes[place->component];
        int left = (x * place->across + place->x) * side, top = (y * place->down + place->y) * side;
        const int16_t *block = decoder->blocks[i], *quantizers = place->quantizers;
        if (__builtin_expect(is_inside, 1)) {
            uint8_t *to = plane->samples + (size_t)top * plane->stride + (size_t)left;
            transform(side, flat >> i & 1, block, quantizers, to, plane->stride, decoder->peaks);
            continue;
        }
        uint8_t samples[64];
        transform(side, flat >> i & 1, block, quantizers, samples, 8, decoder->peaks);
        int across = smaller(side, plane->width - left), down = smaller(side, plane->height - top);
        for (int row = 0; row < down && across > 0; row++) {
            uint8_t *to = plane->samples + (size_t)(top + row) * plane->stride + (size_t)left;
            memcpy(to, samples + 8 * row, (size_t)across);
        }
    }
}
