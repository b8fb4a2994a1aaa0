#include "codes.h"

#include <string.h>

/* The length and the value of the code at the start of LOOK bits. The length is 0 if no code of at most LOOK bits
 * matches. */
typedef struct {
    uint8_t length, value;
} short_code;

/* Fills two tables: `all` for codes of any length, and `shorts` for codes of at most LOOK bits. Returns false if there
 * are too many codes of one length, or if a code consists of ones only. */
static bool list(const jpeg_code *code, long_codes *all, short_code shorts[1 << LOOK]) {
    int32_t next = 0;
    int index = 0;
    memset(shorts, 0, sizeof(short_code) << LOOK);
    memcpy(all->values, code->values, sizeof all->values);
    all->last[0] = -1, all->offset[0] = 0;
    for (int length = 1; length <= 16; length++) {
        int count = code->counts[length - 1];
        if (next + count > (1 << length) - (count > 0)) return false;
        all->offset[length] = index - next;
        all->last[length] = count > 0 ? next + count - 1 : -1;
        for (int i = 0; i < count; i++, index++, next++) {
            if (length > LOOK) continue;
            int32_t from = next << (LOOK - length), to = (next + 1) << (LOOK - length);
            for (int32_t look = from; look < to; look++) {
                shorts[look] = (short_code){(uint8_t)length, code->values[index]};
            }
        }
        next <<= 1;
    }
    return true;
}

/* Returns `count` of the LOOK bits in `look`, after skipping the first `start` bits. */
static uint32_t part(uint32_t look, unsigned start, unsigned count) {
    return look >> (LOOK - start - count) & ((1u << count) - 1);
}

bool jpeg_planes_make_dc(dc_codes *codes, const jpeg_code *code) {
    short_code shorts[1 << LOOK];
    if (!list(code, &codes->all, shorts)) return false;
    int total = 0;
    for (int i = 0; i < 16; i++) total += code->counts[i];
    for (int i = 0; i < total; i++) {
        if (code->values[i] > 15) return false;
    }
    for (uint32_t look = 0; look < 1 << LOOK; look++) {
        unsigned length = shorts[look].length, size = shorts[look].value, bits = length + size;
        bool fits = length > 0 && bits <= LOOK;
        codes->looks[look] = fits ? number(part(look, length, size), size) * 256 + (int32_t)bits : 0;
    }
    return true;
}

static ac_look coefficients(uint32_t look, const short_code shorts[1 << LOOK]) {
    const uint32_t mask = (1 << LOOK) - 1;
    unsigned length = shorts[look].length, size = shorts[look].value & 15, run = shorts[look].value >> 4;
    unsigned bits = length + size, advance = run + 1;
    if (length == 0 || bits > LOOK) return 0;
    if (size == 0) {
        if (run != 0 && run != 15) return 0;
        return make_look(bits, NOWHERE, NOWHERE, run == 15 ? 16 : END_OF_BLOCK, 0, 0);
    }
    int32_t value = number(part(look, length, size), size);
    /* Bits after the LOOK bits are read as zeros. The zeros are harmless, because a symbol that includes one of them
     * needs more than LOOK bits, and is not accepted below. */
    short_code next = shorts[look << bits & mask];
    unsigned next_size = next.value & 15, place = advance + (next.value >> 4);
    unsigned next_bits = bits + next.length + next_size;
    if (next.length == 0 || next_bits > LOOK || (next_size == 0 && next.value != 0)) {
        return make_look(bits, run, run, advance, value, value);
    }
    if (next.value == 0) return make_look(next_bits, run, run, advance | END_OF_BLOCK, value, value);
    int32_t second = number(part(look, bits + next.length, next_size), next_size);
    return make_look(next_bits, run, place, place + 1, value, second);
}

static ac_skip skip(uint32_t look, const short_code shorts[1 << LOOK]) {
    const uint32_t mask = (1 << LOOK) - 1;
    unsigned bits = 0, advance = 0;
    while (bits < LOOK) {
        short_code next = shorts[look << bits & mask];
        unsigned size = next.value & 15, run = next.value >> 4;
        bool is_end = next.value == 0;
        if (next.length == 0 || bits + next.length > LOOK || bits + next.length + size > MOST_SKIPPED) break;
        if (size == 0 && run != 15 && !is_end) break;
        if (advance + run + 1 > 63 && !is_end) break;
        bits += next.length + size;
        if (is_end) {
            advance |= END_OF_BLOCK;
            break;
        }
        advance += run + 1;
    }
    return (ac_skip)(advance << 8 | bits);
}

bool jpeg_planes_make_ac(ac_codes *codes, const jpeg_code *code) {
    short_code shorts[1 << LOOK];
    if (!list(code, &codes->all, shorts)) return false;
    for (uint32_t look = 0; look < 1 << LOOK; look++) {
        codes->looks[look] = coefficients(look, shorts);
        codes->skips[look] = skip(look, shorts);
    }
    return true;
}
