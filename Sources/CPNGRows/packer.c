/* libdeflate packs a whole buffer as a complete stream. To need little memory for a picture of any height, the packer
 * packs the rows in segments, and joins the segments to one stream. In each segment except the last, it clears the bit
 * that marks the last block of a stream. It also appends an empty stored block, so that the next segment begins at a
 * whole byte.
 *
 * The reader's inflater finds the position of that bit. It unpacks each segment, and the packer compares the bytes with
 * the rows, so the packer notices every packing error.
 *
 * Segments would make a drawing larger: its rows repeat, but can't refer to rows of an earlier segment. If the first
 * segment looks like a drawing, zlib packs all rows, as libpng would. */
#include "CPNGRows.h"
#include "filter.h"
#include "inflate.h"
#include "unfilter.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    SEGMENT = 1 << 20,
    /* The size of the sample from which the packer decides how to pack a segment. */
    SAMPLE = 1 << 15,
    MOST_A_ROW = 1 << 20,
};

struct png_packer {
    png_packed packed;
    size_t bytes_per_pixel, bytes_per_row;
    int left;
    bool has_begun, uses_zlib;
    z_stream zlib;
    /* Compressors for samples, for noisy filtered rows, for other filtered rows, and for unfiltered rows. */
    struct libdeflate_compressor *quick, *of_noise, *of_filtered, *of_plain;
    uint32_t adler;
    /* The rows of the segment, unfiltered and filtered. Each row begins with the number of its filter. Each buffer has
     * room for `room` bytes, of which `count` are used. */
    uint8_t *plain, *filtered;
    size_t count, room;
    /* Packed bytes. */
    uint8_t *results[2];
    size_t most_packed;
    /* Buffers for this row and the row above it, swapped after each row. `other` is a buffer for a filtered row. */
    uint8_t *rows[2], *other;
    int row;
    inflater inflater;
};

static bool put(png_packer *packer, const uint8_t *bytes, size_t count) {
    return packer->packed.write(packer->packed.context, bytes, count);
}

/* Whether the stream unpacks to the rows. Stores the stream's length in bits in `end`, and the unpacked bytes in
 * `room`. */
static bool unpacks(
    inflater *inflater, const uint8_t *stream, size_t length, const uint8_t *rows, size_t count, uint8_t *room,
    size_t *end) {
    inflater->bits = inflater->count = 0;
    inflater->state = BLOCK_BEGINS;
    inflater->most_distance = INFLATE_HISTORY;
    const uint8_t *next = stream;
    uint8_t *made = room;
    inflate_result result = png_rows_inflate(inflater, &next, stream + length + 8, room, &made, room + count + 1);
    *end = (size_t)(next - stream) * 8 - inflater->count;
    return result == INFLATE_OVER && *end <= length * 8 && (size_t)(made - room) == count
        && memcmp(room, rows, count) == 0;
}

static size_t pack(struct libdeflate_compressor *by, const uint8_t *rows, size_t count, uint8_t *to, size_t room) {
    size_t length = libdeflate_deflate_compress(by, rows, count, to, room);
    return length > 0 ? length : SIZE_MAX;
}

/* Packs unfiltered rows. */
static bool pack_by_zlib(png_packer *packer, const uint8_t *rows, size_t count) {
    z_stream *zlib = &packer->zlib;
    zlib->next_in = (uint8_t *)rows;
    zlib->avail_in = (unsigned)count;
    int status;
    do {
        zlib->next_out = packer->results[0];
        zlib->avail_out = (unsigned)packer->most_packed;
        status = deflate(zlib, packer->left == 0 ? Z_FINISH : Z_NO_FLUSH);
        size_t made = packer->most_packed - zlib->avail_out;
        if (status < 0 && status != Z_BUF_ERROR) return false;
        if (made > 0 && !put(packer, packer->results[0], made)) return false;
    } while (zlib->avail_out == 0);
    return packer->left > 0 || status == Z_STREAM_END;
}

/* Takes a segment of `end` bits. In the segment's last block, clears the flag that marks the end of a stream. Appends
 * an empty block that ends at a whole byte. Returns the new length in bytes. */
static size_t continue_segment(png_packer *packer, uint8_t *stream, size_t end) {
    stream[packer->inflater.block - stream] &= (uint8_t)~(1u << packer->inflater.block_bit);
    /* The empty block consists of three zero bits, which may need another byte, a length of 0, and the inverse of that
     * length. */
    size_t length = (end + 3 + 7) / 8;
    memcpy(stream + length, "\0\0\377\377", 4);
    return length + 4;
}

/* Packs the segment's rows, filtered or unfiltered, in the form that takes fewer bytes. A sample shows whether the
 * packer must try both forms. */
static bool pack_segment(png_packer *packer) {
    size_t count = packer->count, room = packer->most_packed;
    size_t sample = count < SAMPLE ? count : SAMPLE, start = (count - sample) / 2;
    size_t filtered = pack(packer->quick, packer->filtered + start, sample, packer->results[0], room);
    size_t plain = pack(packer->quick, packer->plain + start, sample, packer->results[1], room);
    packer->count = 0;
    if (!packer->has_begun) {
        packer->has_begun = true;
        packer->uses_zlib = plain < sample / 8 && (plain <= filtered + filtered / 4 || plain < 1024);
        if (packer->uses_zlib) return pack_by_zlib(packer, packer->plain, count);
        static const uint8_t head[] = {0x78, 0x9c};
        if (!put(packer, head, sizeof head)) return false;
    }
    /* Noisy bytes have few matches that a slower search could find. */
    bool is_noise = filtered > sample / 3;
    size_t doubt = is_noise ? 8 : 4;
    bool may_filter = filtered - filtered / doubt <= plain, may_not = plain - plain / doubt <= filtered;
    struct libdeflate_compressor *of_filtered = is_noise ? packer->of_noise : packer->of_filtered;
    filtered = may_filter ? pack(of_filtered, packer->filtered, count, packer->results[0], room) : SIZE_MAX;
    plain = may_not ? pack(packer->of_plain, packer->plain, count, packer->results[1], room) : SIZE_MAX;
    bool is_filtered = filtered <= plain;
    uint8_t *stream = packer->results[is_filtered ? 0 : 1];
    uint8_t *rows = is_filtered ? packer->filtered : packer->plain;
    uint8_t *other = is_filtered ? packer->plain : packer->filtered;
    size_t length = is_filtered ? filtered : plain, end;
    if (length == SIZE_MAX) return false;
    memset(stream + length, 0, INFLATE_MARGIN + 8);
    /* The packer no longer needs the rows in the other form (filtered or unfiltered), so their buffer receives the
     * unpacked bytes. */
    if (!unpacks(&packer->inflater, stream, length, rows, count, other, &end)) return false;
    packer->adler = libdeflate_adler32(packer->adler, rows, count);
    if (packer->left > 0) return put(packer, stream, continue_segment(packer, stream, end));
    for (int i = 0; i < 4; i++) stream[length++] = (uint8_t)(packer->adler >> (24 - 8 * i));
    return put(packer, stream, length);
}

bool png_packer_add(png_packer *packer, const uint8_t *samples) {
    if (packer->left == 0) return false;
    packer->left--;
    uint8_t *plain = packer->plain + packer->count;
    plain[0] = FILTER_NONE;
    memcpy(plain + 1, samples, packer->bytes_per_row);
    size_t stored = 1 + packer->bytes_per_row;
    if (packer->uses_zlib) return pack_by_zlib(packer, plain, stored);
    uint8_t *row = packer->rows[packer->row & 1], *above = packer->rows[~packer->row & 1];
    memcpy(row, samples, packer->bytes_per_row);
    png_rows_filter(
        packer->bytes_per_pixel, row, above, packer->filtered + packer->count, packer->other, packer->bytes_per_row);
    packer->count += stored;
    packer->row ^= 1;
    return packer->left > 0 && packer->count + stored <= packer->room ? true : pack_segment(packer);
}

png_packer *png_packer_open(int width, int height, int bands, int effort, png_packed packed) {
    static const int of_noise[] = {1, 1, 1, 1, 1, 1, 1, 2, 4, 6}, of_filtered[] = {1, 1, 1, 2, 2, 3, 4, 5, 6, 8},
                     of_plain[] = {1, 1, 2, 3, 5, 6, 7, 8, 9, 9};
    bool has_size = width > 0 && width <= MOST_A_ROW / 4 && height > 0 && bands > 0 && bands <= 4;
    if (!has_size || effort < 1 || effort > 9) return NULL;
    png_packer *packer = calloc(1, sizeof *packer);
    if (!packer) return NULL;
    packer->packed = packed;
    packer->bytes_per_pixel = (size_t)bands;
    packer->bytes_per_row = (size_t)width * (size_t)bands;
    packer->left = height;
    packer->adler = 1;
    size_t stored = 1 + packer->bytes_per_row, buffer = ROW_PADDING + packer->bytes_per_row + ROW_PADDING;
    size_t rows = SEGMENT / stored < (size_t)height ? SEGMENT / stored : (size_t)height;
    packer->room = stored * (rows > 0 ? rows : 1);
    packer->quick = libdeflate_alloc_compressor(1);
    packer->of_noise = libdeflate_alloc_compressor(of_noise[effort]);
    packer->of_filtered = libdeflate_alloc_compressor(of_filtered[effort]);
    packer->of_plain = libdeflate_alloc_compressor(of_plain[effort]);
    packer->plain = malloc(packer->room + 1 + INFLATE_SLACK);
    packer->filtered = malloc(packer->room + 1 + INFLATE_SLACK);
    packer->most_packed = packer->quick ? libdeflate_deflate_compress_bound(packer->quick, packer->room) : 0;
    for (int i = 0; i < 2; i++) packer->results[i] = malloc(packer->most_packed + INFLATE_MARGIN + 8);
    packer->rows[0] = calloc(2, buffer);
    packer->other = malloc(stored);
    bool has_zlib = deflateInit(&packer->zlib, effort) == Z_OK;
    if (!has_zlib || !packer->quick || !packer->of_noise || !packer->of_filtered || !packer->of_plain || !packer->plain
        || !packer->filtered || !packer->results[0] || !packer->results[1] || !packer->rows[0]
        || !packer->other) {
        png_packer_close(packer);
        return NULL;
    }
    packer->rows[0] += ROW_PADDING;
    packer->rows[1] = packer->rows[0] + buffer;
    return packer;
}

void png_packer_close(png_packer *packer) {
    if (!packer) return;
    deflateEnd(&packer->zlib);
    struct libdeflate_compressor *compressors[] = {
        packer->quick, packer->of_noise, packer->of_filtered, packer->of_plain,
    };
    for (size_t i = 0; i < sizeof compressors / sizeof *compressors; i++)
        if (compressors[i]) libdeflate_free_compressor(compressors[i]);
    uint8_t *buffers[] = {
        packer->plain, packer->filtered, packer->results[0], packer->results[1], packer->other,
        packer->rows[1] ? packer->rows[0] - ROW_PADDING : packer->rows[0],
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) free(buffers[i]);
    free(packer);
}

uint32_t png_checksum(uint32_t checksum, const uint8_t *bytes, size_t count) {
    return libdeflate_crc32(checksum, bytes, count);
}
