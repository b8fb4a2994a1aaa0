#include "codes.h"

#include <string.h>

/* Loads the bits of the stream into local variables. */
#define LOAD_BITS \
    uint64_t bits = inflater->bits; \
    unsigned count = inflater->count; \
    const uint8_t *in = *next
#define STORE_BITS inflater->bits = bits, inflater->count = count & 63, *next = in
/* Refills `bits` to at least 56 valid bits. The number of valid bits is in the lowest six bits of `count`. Above the
 * valid bits, `bits` may already hold a part of the bytes at `in`; or-ing the same bytes in again changes nothing. */
#define REFILL (bits |= load(in) << (count & 63), in += 7 - (count >> 3 & 7), count |= 56)
#define PASS(number) bits >>= (number) & 63, count -= (number)

static inline uint64_t load(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Reads the lengths of the codes of literals and distances. */
static bool read_lengths(
    inflater *inflater, const uint8_t **next, uint8_t *lengths, unsigned *literals, unsigned *distances) {
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    LOAD_BITS;
    REFILL;
    *literals = 257 + (bits & 31);
    *distances = 1 + (bits >> 5 & 31);
    unsigned codes = 4 + (bits >> 10 & 15), all = *literals + *distances;
    PASS(14);
    if (*literals > MOST_LITERALS || *distances > MOST_DISTANCES) return false;
    unsigned sizes[19] = {0}, counts[8] = {0};
    for (unsigned i = 0; i < codes; i++) {
        REFILL;
        sizes[order[i]] = bits & 7;
        counts[bits & 7]++;
        PASS(3);
    }
    struct { uint8_t length, symbol; } table[128];
    unsigned code = 0, covered = 0;
    for (unsigned length = 1; length < 8; length++, code <<= 1) {
        covered += counts[length] << (7 - length);
        if (covered > 128) return false;
        for (unsigned symbol = 0; symbol < 19; symbol++) {
            if (sizes[symbol] != length) continue;
            for (unsigned i = reversed(code, length); i < 128; i += 1u << length) {
                table[i].length = (uint8_t)length;
                table[i].symbol = (uint8_t)symbol;
            }
            code++;
        }
    }
    if (covered != 128) return false;
    for (unsigned i = 0; i < all;) {
        REFILL;
        unsigned symbol = table[bits & 127].symbol, length = table[bits & 127].length, value = 0, times;
        PASS(length);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16) {
            if (i == 0) return false;
            value = lengths[i - 1];
            times = 3 + (bits & 3);
            PASS(2);
        } else if (symbol == 17) {
            times = 3 + (bits & 7);
            PASS(3);
        } else {
            times = 11 + (bits & 127);
            PASS(7);
        }
        if (times > all - i) return false;
        memset(lengths + i, (int)value, times);
        i += times;
    }
    STORE_BITS;
    return lengths[END_OF_BLOCK] != 0;
}

/* Makes tables of the block's codes. */
static bool begin_codes(inflater *inflater, const uint8_t **next, bool is_fixed) {
    uint8_t lengths[MOST_LITERALS + 2 + 32];
    unsigned literals = 288, distances = 32;
    if (is_fixed) {
        memset(lengths, 8, 144);
        memset(lengths + 144, 9, 112);
        memset(lengths + 256, 7, 24);
        memset(lengths + 280, 8, 8);
        memset(lengths + 288, 5, 32);
    } else if (!read_lengths(inflater, next, lengths, &literals, &distances)) {
        return false;
    }
    inflater->state = BLOCK_OF_CODES;
    return png_rows_make_tables(inflater, lengths, literals, distances);
}

static bool begin_block(inflater *inflater, const uint8_t **next) {
    LOAD_BITS;
    inflater->block = in - ((count + 7) >> 3);
    inflater->block_bit = -count & 7;
    REFILL;
    unsigned type = bits >> 1 & 3;
    inflater->is_last = bits & 1;
    PASS(3);
    if (type == 0) {
        /* Skips the rest of the current byte, and gives back whole bytes that were read ahead. */
        in -= (count & 63) >> 3;
        bits = count = 0;
        unsigned length = in[0] | in[1] << 8, inverse = in[2] | in[3] << 8;
        in += 4;
        STORE_BITS;
        inflater->stored = length;
        inflater->state = BLOCK_STORED;
        return (length ^ inverse) == 0xffff;
    }
    STORE_BITS;
    return type < 3 && begin_codes(inflater, next, type == 1);
}

static inline void copy_8(uint8_t *to, const uint8_t *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    memcpy(to, &value, sizeof value);
}

/* Copies a match, and up to 24 bytes beyond its end. */
static inline void copy_match(uint8_t *to, size_t distance, const uint8_t *stop) {
    const uint8_t *from = to - distance;
    if (distance >= 8) {
        copy_8(to, from);
        copy_8(to + 8, from + 8);
        copy_8(to + 16, from + 16);
        to += 24;
        from += 24;
    } else {
        /* The least multiple of the distance that is at least 8. */
        static const uint8_t multiples[] = {0, 8, 8, 9, 8, 10, 12, 14};
        for (int i = 0; i < 8; i++) to[i] = from[i];
        to += 8;
        from = to - multiples[distance];
    }
    for (; to < stop; to += 8, from += 8) copy_8(to, from);
}

static inline void write_2(uint8_t *to, uint32_t bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap16((uint16_t)bytes);
#endif
    uint16_t value = (uint16_t)bytes;
    memcpy(to, &value, sizeof value);
}

#define LOOK(table, number) table[bits & ((1u << (number)) - 1)]
/* Consumes an entry's bits, and keeps them for `VALUE`. */
#define TAKE old = bits, PASS(entry)
/* The base of a length or distance, plus its extra bits. */
#define VALUE ((entry >> 16) + ((old & (((uint64_t)1 << (entry & 63)) - 1)) >> (entry >> 8 & 15)))
#define WRITE_LITERALS \
    do { \
        if (has_pairs) write_2(out, entry >> 8), out += entry >> 24 & 3; \
        else *out++ = (uint8_t)(entry >> 8); \
    } while (false)

/* Unpacks codes. Looks the next entry up before it refills the bits, so that the processor refills while the entry is
 * loaded from memory. */
static inline __attribute__((always_inline)) inflate_result unpack_codes(
    inflater *inflater, const uint8_t **next, const uint8_t *end, const uint8_t *oldest, uint8_t **made,
    uint8_t *limit, bool has_pairs) {
    LOAD_BITS;
    const uint32_t *literals = inflater->literals, *distances = inflater->distances;
    uint8_t *out = *made;
    inflate_result result = INFLATE_FULL;
    uint64_t old;
    REFILL;
    uint32_t entry = LOOK(literals, LITERAL_BITS);
    while (out < limit && in < end) {
        TAKE;
        if (entry & IS_LITERAL) {
            WRITE_LITERALS;
            entry = LOOK(literals, LITERAL_BITS);
            TAKE;
            if (entry & IS_LITERAL) {
                WRITE_LITERALS;
                entry = LOOK(literals, LITERAL_BITS);
                TAKE;
                if (entry & IS_LITERAL) {
                    WRITE_LITERALS;
                    entry = LOOK(literals, LITERAL_BITS);
                    REFILL;
                    continue;
                }
            }
        }
        if (entry & IS_SPECIAL) {
            if (entry & IS_LINK) {
                REFILL;
                entry = literals[(entry >> 16) + (bits & ((1u << (entry >> 8 & 15)) - 1))];
                TAKE;
                if (entry & IS_LITERAL) {
                    WRITE_LITERALS;
                    entry = LOOK(literals, LITERAL_BITS);
                    REFILL;
                    continue;
                }
            }
            if (entry & IS_SPECIAL) {
                result = entry & IS_END ? INFLATE_OVER : INFLATE_DAMAGED;
                break;
            }
        }
        unsigned length = (unsigned)VALUE;
        /* Keeps enough bits for a distance (a code of up to 15 bits, and up to 13 extra bits) and for the next lookup
         * in `literals`. */
        if ((count & 63) < 28 + LITERAL_BITS) REFILL;
        entry = LOOK(distances, DISTANCE_BITS);
        TAKE;
        if (entry & IS_SPECIAL) {
            if (entry & IS_LINK) {
                entry = distances[(entry >> 16) + (bits & ((1u << (entry >> 8 & 15)) - 1))];
                TAKE;
            }
            if (entry & IS_SPECIAL) {
                result = INFLATE_DAMAGED;
                break;
            }
        }
        size_t distance = (size_t)VALUE;
        if (distance > (size_t)(out - oldest) || distance > inflater->most_distance) {
            result = INFLATE_DAMAGED;
            break;
        }
        entry = LOOK(literals, LITERAL_BITS);
        REFILL;
        copy_match(out, distance, out + length);
        out += length;
    }
    if (result == INFLATE_FULL && out < limit) result = INFLATE_HUNGRY;
    STORE_BITS;
    *made = out;
    return result;
}

static void copy_stored(inflater *inflater, const uint8_t **next, const uint8_t *end, uint8_t **made, uint8_t *limit) {
    size_t count = inflater->stored, room = (size_t)(limit - *made), present = (size_t)(end - *next);
    if (count > room) count = room;
    if (count > present) count = present;
    memcpy(*made, *next, count);
    *made += count;
    *next += count;
    inflater->stored -= count;
}

inflate_result png_rows_inflate(
    inflater *inflater, const uint8_t **next, const uint8_t *end, const uint8_t *oldest, uint8_t **made,
    uint8_t *limit) {
    while (true) {
        if (inflater->state == STREAM_OVER) return INFLATE_OVER;
        if (*made >= limit) return INFLATE_FULL;
        if (*next >= end) return INFLATE_HUNGRY;
        if (inflater->state == BLOCK_BEGINS) {
            if (!begin_block(inflater, next)) return INFLATE_DAMAGED;
            continue;
        }
        if (inflater->state == BLOCK_STORED) {
            copy_stored(inflater, next, end, made, limit);
            if (inflater->stored > 0) continue;
        } else {
            inflate_result result =
                inflater->has_pairs ? unpack_codes(inflater, next, end, oldest, made, limit, true)
                                    : unpack_codes(inflater, next, end, oldest, made, limit, false);
            if (result != INFLATE_OVER) return result;
        }
        inflater->state = inflater->is_last ? STREAM_OVER : BLOCK_BEGINS;
    }
}
