#include "codes.h"

#include <string.h>

enum { MOST_BITS = 15 };

typedef uint32_t symbol_entry(unsigned symbol);

static uint32_t literal_entry(unsigned symbol) {
    static const uint16_t bases[] = {
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    };
    static const uint8_t extra[] = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    };
    if (symbol < END_OF_BLOCK) return IS_LITERAL | ONE_BYTE | symbol << 8;
    if (symbol == END_OF_BLOCK) return IS_SPECIAL | IS_END;
    if (symbol >= MOST_LITERALS) return IS_WRONG;
    return (uint32_t)bases[symbol - 257] << 16 | extra[symbol - 257];
}

static uint32_t distance_entry(unsigned symbol) {
    static const uint16_t bases[] = {
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    };
    if (symbol >= MOST_DISTANCES) return IS_WRONG;
    return (uint32_t)bases[symbol] << 16 | (symbol < 4 ? 0 : symbol / 2 - 1);
}

/* Completes an entry with the length of its code, in bits. */
static uint32_t with_length(uint32_t entry, unsigned length) {
    return entry & (IS_LITERAL | IS_SPECIAL) ? entry + length : entry + (length << 8) + length;
}

/* Makes a table of at most `entries` entries from the lengths of codes. The next `look` bits of the stream index the
 * table. Returns false if the lengths don't form a code, or form a code that zlib would reject. */
static bool make_table(
    uint32_t *table, size_t entries, unsigned look, const uint8_t *lengths, unsigned count, symbol_entry *entry_of) {
    unsigned counts[MOST_BITS + 1] = {0}, starts[MOST_BITS + 2];
    for (unsigned i = 0; i < count; i++) counts[lengths[i]]++;
    counts[0] = 0;
    int left = 1;
    starts[1] = 0;
    for (int length = 1; length <= MOST_BITS; length++) {
        left = left * 2 - (int)counts[length];
        if (left < 0) return false;
        starts[length + 1] = starts[length] + counts[length];
    }
    unsigned used = starts[MOST_BITS + 1];
    /* A code may be incomplete only if it has no symbols, or a single symbol of one bit. */
    if (left > 0 && (used > 1 || used != counts[1])) return false;
    if (left > 0)
        for (size_t i = 0; i < (size_t)1 << look; i++) table[i] = IS_WRONG;
    uint16_t symbols[MOST_LITERALS + 2];
    for (unsigned i = 0; i < count; i++)
        if (lengths[i]) symbols[starts[lengths[i]]++] = (uint16_t)i;

    unsigned code = 0, next = 0, length = 1;
    for (; length <= look; length++, code <<= 1) {
        /* Doubles the table: the entries so far are valid for both values of the next bit. */
        if (length > 1) memcpy(table + (1u << (length - 1)), table, sizeof *table << (length - 1));
        for (unsigned i = 0; i < counts[length]; i++, code++)
            table[reversed(code, length)] = with_length(entry_of(symbols[next++]), length);
    }
    size_t place = (size_t)1 << look, start = 0;
    unsigned prefix = ~0u, bits = 0;
    for (; length <= MOST_BITS; length++, code <<= 1) {
        for (unsigned i = 0; i < counts[length]; i++, code++) {
            unsigned backwards = reversed(code, length), own = length - look;
            if ((backwards & ((1u << look) - 1)) != prefix) {
                prefix = backwards & ((1u << look) - 1);
                start = place;
                int free = (1 << own) - (int)(counts[length] - i);
                for (bits = own; free > 0 && bits + look < MOST_BITS; bits++)
                    free = free * 2 - (int)counts[look + bits + 1];
                place += (size_t)1 << bits;
                if (place > entries) return false;
                table[prefix] = (uint32_t)(start << 16 | IS_SPECIAL | IS_LINK | bits << 8 | look);
            }
            uint32_t entry = with_length(entry_of(symbols[next++]), own);
            for (size_t j = backwards >> look; j < (size_t)1 << bits; j += (size_t)1 << own) table[start + j] = entry;
        }
    }
    return true;
}

/* Combines two literals into one entry wherever both codes fit into LITERAL_BITS bits. If fewer than a quarter of all
 * lookups would find such an entry, changes nothing and returns false, because the entries would cost more time than
 * they save. */
static bool pair_literals(uint32_t *table, const uint8_t *lengths) {
    unsigned counts[MOST_BITS + 1] = {0}, found = 0;
    for (int i = 0; i < END_OF_BLOCK; i++) counts[lengths[i]]++;
    for (int first = 1; first < LITERAL_BITS; first++)
        for (int second = 1; first + second <= LITERAL_BITS; second++)
            found += counts[first] * counts[second] << (LITERAL_BITS - first - second);
    if (found < 1u << LITERAL_BITS >> 2) return false;
    /* Begins at the last entry, because each entry uses an earlier entry, which must still hold a single literal. */
    for (unsigned i = (1u << LITERAL_BITS) - 1; i > 0; i--) {
        uint32_t one = table[i], other = table[i >> (one & 63)];
        if (!(one & IS_LITERAL) || !(other & IS_LITERAL) || (one & 63) + (other & 63) > LITERAL_BITS) continue;
        table[i] = IS_LITERAL | TWO_BYTES | (other & 0xff00) << 8 | (one & 0xff00) | ((one & 63) + (other & 63));
    }
    return true;
}

bool png_rows_make_tables(inflater *inflater, const uint8_t *lengths, unsigned literals, unsigned distances) {
    if (!make_table(
            inflater->distances, DISTANCE_ENTRIES, DISTANCE_BITS, lengths + literals, distances, distance_entry)
        || !make_table(inflater->literals, LITERAL_ENTRIES, LITERAL_BITS, lengths, literals, literal_entry))
        return false;
    inflater->has_pairs = pair_literals(inflater->literals, lengths);
    return true;
}
