/* Tables for the codes of a deflate stream. */
#pragma once

#include "inflate.h"

/* A table entry gives the meaning of the next bits of the stream. The lowest byte of an entry is the number of bits to
 * consume.
 *
 * The entry for one or two literals has their bytes in bits 8 to 23, and their number in bits 24 and 25.
 *
 * The entry for a length or a distance has the base value from bit 16 on. Bits 8 to 11 are the length of the code,
 * without the extra bits that follow the code.
 *
 * A link to a second table has the table's place from bit 16 on. Bits 8 to 11 are the number of bits that index the
 * table. */
enum { IS_SPECIAL = 1 << 15, IS_LINK = 1 << 14, IS_END = 1 << 13 };
#define IS_LITERAL 0x80000000u
#define ONE_BYTE (1u << 24)
#define TWO_BYTES (2u << 24)
/* The entry for bits that form no code. */
#define IS_WRONG ((uint32_t)IS_SPECIAL)

enum { MOST_LITERALS = 286, MOST_DISTANCES = 30, END_OF_BLOCK = 256 };

/* Returns the code's bits in reverse order, which is their order in the stream. */
static inline unsigned reversed(unsigned code, unsigned length) {
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | code >> 8;
    return code >> (16 - length);
}

/* Makes both tables of an inflater from the lengths of the codes. Returns false if the lengths don't form codes, or
 * form codes that zlib would reject. */
bool png_rows_make_tables(inflater *inflater, const uint8_t *lengths, unsigned literals, unsigned distances);
