/* Why no file can make this code read or write outside its memory:
 *
 * - Segments (header.c). The reader compares the length of a segment with the rest of the file before it reads the
 *   segment's bytes, and the length of each table with the rest of the segment.
 * - Samples. planes_fit() compares the planes with the header. transform_group() transforms a group in place only if
 *   all samples of the group lie within the planes. From any other group, transform_group() copies only the samples
 *   within the planes.
 * - Coded bytes. fill() copies them into a window, followed by PADDING zeros. scan() checks the reader's position once
 *   for each group of blocks. A group begins at least PADDING bytes before the end of the window's bytes or, in the
 *   last window, at most 8 bytes after their end. A group has at most MOST_BLOCKS blocks. A block has one difference
 *   and at most 63 symbols, because each symbol advances the index of the next coefficient, and the block ends at 64.
 *   Each difference or symbol has at most 16 bits of code and 15 bits of value. A group therefore has at most 1,488
 *   bytes. A refill reads at most 16 bytes more. The sum is less than PADDING.
 * - Coefficients. `places` is indexed by the next coefficient's index, at most 63, plus an offset: a run, two runs, or
 *   NOWHERE. The sum is at most 127, and the table has 192 entries. Entries from 64 on are NOWHERE, an index at which
 *   each block has a spare element.
 * - Codes. LOOK bits index the tables, which have 1 << LOOK entries. The values of long codes are indexed modulo 256.
 * - Arithmetic. Sums that a damaged file can make overflow are unsigned. If a first coefficient is out of range, the
 *   scan ends after its group, before the sum of differences can overflow.
 *
 * Why the samples equal libjpeg-turbo's: the transforms add the same products, and nothing overflows as long as the
 * values are in the range of an 8-bit picture. The decoder refuses a file with larger values, because libjpeg-turbo's
 * results then differ between processors. It also refuses a file with undefined codes, with blocks of more than 64
 * coefficients, with too few or too many coded bytes, or with unexpected markers. */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

/* Arranges the coefficients for the transforms, which take rows in pairs: 0 and 4, 2 and 6, 1 and 5, 3 and 7. */
static void arrange(decoder *decoder) {
    static const uint8_t rows_and_columns[64] = {
        000, 001, 010, 020, 011, 002, 003, 012, 021, 030, 040, 031, 022, 013, 004, 005, 014, 023, 032, 041, 050, 060,
        051, 042, 033, 024, 015, 006, 007, 016, 025, 034, 043, 052, 061, 070, 071, 062, 053, 044, 035, 026, 017, 027,
        036, 045, 054, 063, 072, 073, 064, 055, 046, 037, 047, 056, 065, 074, 075, 066, 057, 067, 076, 077,
    };
    static const uint8_t pairs[4] = {0, 2, 1, 3};
    memset(decoder->places, NOWHERE, sizeof decoder->places);
    for (int i = 0; i < 64; i++) {
        int row = rows_and_columns[i] / 8, column = rows_and_columns[i] % 8;
        decoder->places[i] = (uint8_t)(pairs[row % 4] * 16 + column * 2 + row / 4);
    }
    for (int i = 0; i < decoder->count; i++) {
        const uint8_t *quantizers = decoder->header.quantizers[decoder->header.components[i].quantizer];
        for (int j = 0; j < 64; j++) decoder->quantizers[i][decoder->places[j]] = quantizers[j];
    }
    memset(decoder->peaks, 0, sizeof decoder->peaks);
}

/* Makes the tables that the components use. */
static bool make_codes(decoder *decoder) {
    const jpeg_header *header = &decoder->header;
    bool has_dc[4] = {false}, has_ac[4] = {false};
    for (int i = 0; i < header->count; i++) {
        int dc = header->components[i].dc, ac = header->components[i].ac;
        if (!has_dc[dc] && !jpeg_planes_make_dc(&decoder->dc[dc], &header->dc[dc])) return false;
        if (!has_ac[ac] && !jpeg_planes_make_ac(&decoder->ac[ac], &header->ac[ac])) return false;
        has_dc[dc] = has_ac[ac] = true;
    }
    return true;
}

static int divided(int size, int by) { return (size + by - 1) / by; }

static bool planes_fit(const jpeg_header *header, int shrink, const jpeg_plane *planes, int count) {
    if (count > header->count) return false;
    int width = divided(header->width, shrink), height = divided(header->height, shrink);
    for (int i = 0; i < count; i++) {
        int across = i == 0 ? 1 : header->components[0].across, down = i == 0 ? 1 : header->components[0].down;
        if (planes[i].width != divided(width, across) || planes[i].height != divided(height, down)) return false;
        if (planes[i].stride < (size_t)planes[i].width) return false;
    }
    return true;
}

static void group_blocks(decoder *decoder) {
    decoder->group_count = 0;
    for (int i = 0; i < decoder->header.count; i++) {
        const jpeg_component *component = &decoder->header.components[i];
        for (int y = 0; y < component->down; y++) {
            for (int x = 0; x < component->across; x++) {
                decoder->group[decoder->group_count++] = (group_block){
                    .dc = &decoder->dc[component->dc],
                    .ac = &decoder->ac[component->ac],
                    .quantizers = decoder->quantizers[i],
                    .is_wanted = i < decoder->count,
                    .component = i,
                    .across = component->across,
                    .down = component->down,
                    .x = x,
                    .y = y,
                };
            }
        }
    }
}

static bool scan(decoder *decoder) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return jpeg_planes_scan_avx2(decoder);
#endif
    return jpeg_planes_scan(decoder);
}

bool jpeg_planes_can_decode(const uint8_t *start, size_t length) {
    jpeg_header header;
    return jpeg_planes_read_header(&header, start, length);
}

bool jpeg_planes_decode(const uint8_t *file, size_t length, int shrink, const jpeg_plane *planes, int count) {
    if ((shrink != 1 && shrink != 2 && shrink != 4 && shrink != 8) || (count != 1 && count != 3)) return false;
    decoder *decoder = aligned_alloc(64, (sizeof *decoder + 63) / 64 * 64);
    if (!decoder) return false;
    bool is_decoded = false;
    if (jpeg_planes_read_header(&decoder->header, file, length) && planes_fit(&decoder->header, shrink, planes, count)
        && make_codes(decoder)) {
        decoder->side = 8 / shrink;
        decoder->planes = planes, decoder->count = count;
        decoder->coded.next = decoder->header.scan, decoder->coded.end = file + length;
        arrange(decoder);
        group_blocks(decoder);
        is_decoded = scan(decoder);
    }
    free(decoder);
    return is_decoded;
}
