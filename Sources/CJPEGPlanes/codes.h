/* Huffman codes as tables. One look decodes one or several symbols together with their values. */
#pragma once

#include "header.h"

/* Number of bits in a look. */
enum { LOOK = 10 };

/* Maximum number of bits that one look skips: the codes of several symbols, and their values. */
enum { MOST_SKIPPED = 25 };

/* Bit of an advance that is set if the block ends there. */
enum { END_OF_BLOCK = 128 };

/* Index for a surplus coefficient: one past the block's 64. */
enum { NOWHERE = 64 };

/* Canonical codes of one length are consecutive, so the last code and an offset suffice to find a value. */
typedef struct {
    int32_t last[17];
    int32_t offset[17];
    uint8_t values[256];
} long_codes;

/* Codes of the differences between first coefficients. `looks` has value << 8 | bits for codes that fit into a look
 * with their values, and 0 for others. */
typedef struct {
    int32_t looks[1 << LOOK];
    long_codes all;
} dc_codes;

/* One or two coefficients, packed into one word: the number of bits of the codes and values, or 0 if the next symbol
 * does not fit; the coefficients' places, relative to the index of the next coefficient; how far that index
 * advances; and the values. */
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

/* As many symbols as fit into a look, without their values: advance << 8 | bits. */
typedef uint16_t ac_skip;

typedef struct {
    ac_look looks[1 << LOOK];
    ac_skip skips[1 << LOOK];
    long_codes all;
} ac_codes;

/* Returns false if the code is invalid; libjpeg refuses it, too. */
bool jpeg_planes_make_dc(dc_codes *codes, const jpeg_code *code);
bool jpeg_planes_make_ac(ac_codes *codes, const jpeg_code *code);

/* The number that `size` bits stand for. Bits that begin with 0 stand for a negative number. */
static inline int32_t number(uint32_t bits, unsigned size) {
    if (size == 0) return 0;
    return (int32_t)bits - (bits >> (size - 1) ? 0 : (1 << size) - 1);
}
