/* Huffman codes, as tables in which one look decodes one or several symbols with their values. */
#pragma once

#include "header.h"

/* Bits of one look. */
enum { LOOK = 10 };

/* Bits of the symbols that one look passes over. */
enum { MOST_SKIPPED = 25 };

/* A set bit of an advance: the block ends there. */
enum { END_OF_BLOCK = 128 };

/* Where a coefficient goes that is none: behind the 64 of a block. */
enum { NOWHERE = 64 };

/* Canonical codes of one length follow each other, so that the last one and an offset find a value. */
typedef struct {
    int32_t last[17];
    int32_t offset[17];
    uint8_t values[256];
} long_codes;

/* Codes of differences between first coefficients. `looks` has value << 8 | bits for codes that fit with their values,
 * and 0 for others. */
typedef struct {
    int32_t looks[1 << LOOK];
    long_codes all;
} dc_codes;

/* One or two coefficients, in a word that takes one load: bits of codes and values, 0 if the next symbol does not fit;
 * the coefficients' places, counted from the next coefficient; how far the next coefficient moves; the values. */
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

/* As many symbols as fit, without their values: advance << 8 | bits. */
typedef uint16_t ac_skip;

typedef struct {
    ac_look looks[1 << LOOK];
    ac_skip skips[1 << LOOK];
    long_codes all;
} ac_codes;

/* Returns false if libjpeg refuses this code, too. */
bool jpeg_planes_make_dc(dc_codes *codes, const jpeg_code *code);
bool jpeg_planes_make_ac(ac_codes *codes, const jpeg_code *code);

/* The number that `size` bits stand for: those that begin with 0 are negative. */
static inline int32_t number(uint32_t bits, unsigned size) {
    if (size == 0) return 0;
    return (int32_t)bits - (bits >> (size - 1) ? 0 : (1 << size) - 1);
}
