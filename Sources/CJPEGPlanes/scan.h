/* Decodes the scan. This file is compiled twice: for all processors, and for processors with AVX2. */
#include "transform.h"

/* Reads the coded bits. The next bit is the highest bit of `bits`. */
typedef struct {
    const uint8_t *at;
    uint64_t bits;
    unsigned count;
} bit_reader;

/* Minimum number of bits that a reader has after a refill. */
enum { FULL = 56 };

INLINE void refill(bit_reader *reader) {
    uint64_t next;
    memcpy(&next, reader->at, 8);
    reader->bits |= __builtin_bswap64(next) >> reader->count;
    reader->at += (63 - reader->count) >> 3;
    reader->count |= FULL;
}

INLINE void drop(bit_reader *reader, unsigned count) {
    reader->bits <<= count;
    reader->count -= count;
}

INLINE uint32_t look(const bit_reader *reader) { return (uint32_t)(reader->bits >> (64 - LOOK)); }

/* A decoded symbol that needs more than LOOK bits. */
typedef struct {
    /* The difference, or the index of the next coefficient. Includes the flag BAD if the symbol is invalid. */
    int32_t value;
    unsigned bits;
} long_symbol;

enum { BAD = 1 << 20 };

/* Skips the first `start` bits of `bits`, and decodes the next `size` bits with number(). */
INLINE int32_t number_in(uint64_t bits, unsigned start, unsigned size) {
    return size == 0 ? 0 : number((uint32_t)(bits << start >> (64 - size)), size);
}

/* Finds the code at the start of `bits`, and returns its value and its length. */
INLINE long_symbol find_code(uint64_t bits, const long_codes *codes) {
    for (unsigned length = 1; length <= 16; length++) {
        int32_t code = (int32_t)(bits >> (64 - length));
        if (code <= codes->last[length]) {
            return (long_symbol){codes->values[(code + codes->offset[length]) & 255], length};
        }
    }
    return (long_symbol){BAD, 0};
}

static __attribute__((noinline)) long_symbol find_difference(uint64_t bits, const dc_codes *codes) {
    long_symbol code = find_code(bits, &codes->all);
    if (code.value == BAD) return code;
    unsigned size = (unsigned)code.value;
    return (long_symbol){number_in(bits, code.bits, size), code.bits + size};
}

/* Decodes a symbol: a coefficient, a run of zeros, or the end of the block. Returns the index of the next coefficient.
 * The index includes the flag END_OF_BLOCK if the block is over, and BAD if the symbol is invalid. */
static __attribute__((noinline)) long_symbol find_coefficient(
    uint64_t bits, const ac_codes *codes, const uint8_t *places, int16_t *block, int index
) {
    long_symbol code = find_code(bits, &codes->all);
    int run = code.value >> 4;
    unsigned size = code.value & 15;
    if (code.value == BAD || (size == 0 && run != 0 && run != 15)) return (long_symbol){END_OF_BLOCK | BAD, 0};
    if (code.value == 0) return (long_symbol){index | END_OF_BLOCK, code.bits};
    block[places[index + run]] = (int16_t)number_in(bits, code.bits, size);
    index += run + 1;
    return (long_symbol){index < 64 ? index : index == 64 ? END_OF_BLOCK : END_OF_BLOCK | BAD, code.bits + size};
}

INLINE int32_t take_difference(bit_reader *reader, const dc_codes *codes) {
    refill(reader);
    int32_t found = codes->looks[look(reader)];
    if (__builtin_expect(found == 0, 0)) {
        long_symbol difference = find_difference(reader->bits, codes);
        drop(reader, difference.bits);
        return difference.value;
    }
    drop(reader, found & 63);
    return found >> 8;
}

/* Decodes a block's coefficients after the first. If an end symbol ends the block, returns END_OF_BLOCK plus the index
 * at that symbol. If the 64th coefficient ends the block, returns a number that differs from all these sums. The result
 * includes BAD if the coefficients are damaged. */
INLINE unsigned take_coefficients(bit_reader *from, const ac_codes *codes, const uint8_t *places, int16_t *block) {
    bit_reader reader = *from;
    int index = 1;
    while (index < 64) {
        refill(&reader);
        bool fits = true;
#pragma unroll
        for (int i = 0; i < FULL / LOOK; i++) {
            ac_look found = codes->looks[look(&reader)];
            int next = index + look_advance(found);
            block[places[index + first_place(found)]] = first_value(found);
            block[places[index + second_place(found)]] = second_value(found);
            /* A symbol beyond the last coefficient belongs to the next block. */
            bool is_too_far = next > 64 && (next & (END_OF_BLOCK - 1)) >= 64;
            if (__builtin_expect(look_bits(found) == 0 || is_too_far, 0)) {
                fits = false;
                break;
            }
            drop(&reader, look_bits(found));
            index = next;
            if (__builtin_expect(index >= 64, 0)) break;
        }
        if (__builtin_expect(!fits, 0)) {
            refill(&reader);
            long_symbol symbol = find_coefficient(reader.bits, codes, places, block, index);
            drop(&reader, symbol.bits);
            index = symbol.value;
        }
    }
    *from = reader;
    return (unsigned)index;
}

/* Skips a block's coefficients after the first. Returns BAD if the coefficients are damaged, otherwise 0. */
INLINE unsigned skip_coefficients(bit_reader *from, const ac_codes *codes) {
    static const uint8_t nowhere[64 + 16];
    int16_t ignored;
    bit_reader reader = *from;
    int index = 1;
    while (index < 64) {
        refill(&reader);
        bool fits = true;
#pragma unroll
        for (int i = 0; i < FULL / MOST_SKIPPED; i++) {
            unsigned found = codes->skips[look(&reader)];
            int next = index + (int)(found >> 8);
            if (__builtin_expect(found == 0 || (next & (END_OF_BLOCK - 1)) >= 64, 0)) {
                fits = false;
                break;
            }
            drop(&reader, found & 63);
            index = next;
            if (index >= END_OF_BLOCK) break;
        }
        if (__builtin_expect(!fits, 0)) {
            refill(&reader);
            long_symbol symbol = find_coefficient(reader.bits, codes, nowhere, &ignored, index);
            drop(&reader, symbol.bits);
            index = symbol.value;
        }
    }
    *from = reader;
    return (unsigned)index & BAD;
}

/* Moves the remaining bytes, which begin at `at`, to the start of the window, and fills the rest of the window. Returns
 * the new position of these bytes. */
static const uint8_t *fill(coded_bytes *coded, const uint8_t *at) {
    size_t rest = (size_t)(coded->filled - at);
    memmove(coded->window, at, rest);
    uint8_t *to = coded->window + rest, *const end = coded->window + WINDOW;
    while (to < end && !coded->is_last) {
        size_t left = (size_t)(coded->end - coded->next), room = (size_t)(end - to), most = left < room ? left : room;
        const uint8_t *escape = memchr(coded->next, 0xff, most);
        size_t plain = escape ? (size_t)(escape - coded->next) : most;
        memcpy(to, coded->next, plain);
        to += plain, coded->next += plain;
        if (escape && left - plain >= 2 && escape[1] == 0) {
            *to++ = 0xff;
            coded->next += 2;
        } else {
            coded->is_last = escape || coded->next == coded->end;
        }
    }
    memset(to, 0, PADDING);
    coded->filled = to;
    coded->limit = coded->is_last ? to + 8 : to - PADDING;
    return coded->window;
}

/* Refills the whole window, from the file's next byte on. */
static const uint8_t *start(coded_bytes *coded) {
    coded->filled = coded->window;
    coded->is_last = false;
    return fill(coded, coded->window);
}

/* Whether the coded bytes end at the reader's position, and this marker follows. */
static bool ends(const coded_bytes *coded, const uint8_t *at, unsigned count, uint8_t marker) {
    ptrdiff_t left = (coded->filled - at) * 8 + (ptrdiff_t)count;
    return coded->is_last && left >= 0 && left < 8 && coded->end - coded->next >= 2 && coded->next[1] == marker;
}

/* Nonzero if a first coefficient needs more than 11 bits and a sign. Valid pictures need 10 bits, or slightly more
 * because of rounding. */
INLINE unsigned is_beyond(int32_t dequantized) { return (uint32_t)(dequantized + 2048) >> 12; }

INLINE bool scan_at(decoder *decoder, int side) {
    const jpeg_header *header = &decoder->header;
    const jpeg_component *first = &header->components[0];
    int across = (header->width + 8 * first->across - 1) / (8 * first->across);
    int down = (header->height + 8 * first->down - 1) / (8 * first->down);
    /* Number of groups, across and down, whose samples all lie within the planes. */
    int whole_across = across, whole_down = down;
    for (int i = 0; i < decoder->count; i++) {
        whole_across = smaller(whole_across, decoder->planes[i].width / (header->components[i].across * side));
        whole_down = smaller(whole_down, decoder->planes[i].height / (header->components[i].down * side));
    }
    bit_reader reader = {.at = start(&decoder->coded)};
    int32_t last[3] = {0};
    int left = header->restart_interval;
    uint8_t restarts = 0;
    unsigned bad = 0;
    for (int y = 0; y < down; y++) {
        for (int x = 0; x < across; x++) {
            if (header->restart_interval > 0 && left-- == 0) {
                if (!ends(&decoder->coded, reader.at, reader.count, 0xd0 + restarts)) return false;
                restarts = (restarts + 1) & 7;
                decoder->coded.next += 2;
                reader = (bit_reader){.at = start(&decoder->coded)};
                left = header->restart_interval - 1;
                memset(last, 0, sizeof last);
            }
            if (__builtin_expect(reader.at > decoder->coded.limit, 0)) {
                if (decoder->coded.is_last) return false;
                reader.at = fill(&decoder->coded, reader.at);
            }
            /* One bit for each block. A bit is set if the transform needs only the first coefficient of the block, for
             * example because the block has no other coefficient. */
            unsigned flat = 0;
            for (int i = 0; i < decoder->group_count; i++) {
                const group_block *place = &decoder->group[i];
                int32_t difference = take_difference(&reader, place->dc);
                bad |= difference == BAD;
                if (!place->is_wanted) {
                    bad |= skip_coefficients(&reader, place->ac);
                    continue;
                }
                int32_t first = last[place->component] += difference;
                bad |= is_beyond(first * place->quantizers[0]);
                int16_t *block = decoder->blocks[i];
                if (side == 1) {
                    bad |= skip_coefficients(&reader, place->ac);
                    flat |= 1u << i;
                } else {
                    memset(block, 0, 64 * sizeof *block);
                    unsigned end = take_coefficients(&reader, place->ac, decoder->places, block);
                    bad |= end & BAD;
                    /* Detects flat blocks only at the full size, because smaller transforms are as fast as the
                     * detection. */
                    if (side == 8) flat |= (unsigned)(end == (END_OF_BLOCK | 1)) << i;
                }
                block[0] = (int16_t)first;
            }
            if (__builtin_expect(bad != 0, 0)) return false;
            transform_group(decoder, side, x, y, x < whole_across && y < whole_down, flat);
        }
    }
    if (!ends(&decoder->coded, reader.at, reader.count, 0xd9)) return false;
    unsigned peak = 0;
    for (int i = 0; i < 8; i++) peak |= decoder->peaks[i];
    return peak <= MOST_PEAK;
}

bool SCAN(decoder *decoder) {
    switch (decoder->side) {
    case 8: return scan_at(decoder, 8);
    case 4: return scan_at(decoder, 4);
    case 2: return scan_at(decoder, 2);
    default: return scan_at(decoder, 1);
    }
}
