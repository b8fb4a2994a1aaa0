/* Huffman codes as tables. The next LOOK bits of the scan index the tables. One table entry decodes one or several
 * symbols together with their values. */
#pragma once

#include "header.h"

/* Number of bits that index a table. */
enum { LOOK = 10 };

/* Maximum number of bits that one entry of `skips` covers: the codes of several symbols, and their values. */
enum { MOST_SKIPPED = 25 };

/* Flag in an `advance`: the block ends at this symbol. */
enum { END_OF_BLOCK = 128 };

/* Index for a surplus coefficient: one past the block's 64 coefficients. */
enum { NOWHERE = 64 };

/* Finds a value by its canonical code. Codes of one length are consecutive numbers, so the last code and an offset for
 * each length suffice. */
typedef struct {
    int32_t last[17];
    int32_t offset[17];
    uint8_t values[256];
} long_codes;

/* Codes of the differences between the first coefficients of successive blocks. If a code and its value have at most
 * LOOK bits together, the entry in `looks` is value << 8 | bits; otherwise it is 0. */
typedef struct {
    int32_t looks[1 << LOOK];
    long_codes all;
} dc_codes;

/* Up to two coefficients, packed into one word. The word holds the number of bits of their codes and values, the offset
 * of each coefficient from the current index, the advance of that index, and the two values. The number of bits is 0 if
 * the next symbol is invalid, or needs more than LOOK bits. */
typedef uint64_t ac_look;

static inline ac_look make_look(unsigned bits, unsigned first_place, unsigned second_place, unsigned advance,
    int32_t first, int32_t second) {
    return bits | first_place << 8 | second_place << 16 | (uint64_t)advance << 24 | (uint64_t)(uint16_t)first << 32
        | (uint64_t)(uint16_t)second << 48;
}

static inline unsigned look_bits(ac_look look) { return look & 63; }
static inline int first_place(ac_look look) { return look >> 8 & 255; }
static inline int second_place(ac_look look) { return look >> 16 & 255; }
static inline int look_advance(ac_look look) { return look >> 24 & 255; }
static inline int16_t first_value(ac_look look) { return (int16_t)(look >> 32); }
static inline int16_t second_value(ac_look look) { return (int16_t)(look >> 48); }

/* All symbols whose codes lie within the next LOOK bits, to be skipped together with their values: advance << 8 | bits.
 * The values may extend beyond the LOOK bits. */
typedef uint16_t ac_skip;

typedef struct {
    ac_look looks[1 << LOOK];
    ac_skip skips[1 << LOOK];
    long_codes all;
} ac_codes;

/* Makes the tables of a code. Returns false if the code is invalid; libjpeg refuses such a code, too. */
bool jpeg_planes_make_dc(dc_codes *codes, const jpeg_code *code);
bool jpeg_planes_make_ac(ac_codes *codes, const jpeg_code *code);

/* Decodes a number from its `size` bits. If the first bit is 0, the number is negative. */
static inline int32_t number(uint32_t bits, unsigned size) {
    if (size == 0) return 0;
    return (int32_t)bits - (bits >> (size - 1) ? 0 : (1 << size) - 1);
}
