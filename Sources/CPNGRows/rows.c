/* Why no file can make this code read or write outside its memory:
 *
 * - Chunks. take() copies as many bytes as its caller has room for, and never more than were read from the file. The
 *   length of a chunk serves only as an upper limit for the number of bytes to take.
 * - Packed bytes. fill() puts at most PACKED bytes into `packed`, which has INFLATE_MARGIN + LOOK_AHEAD more. unpack()
 *   lets the inflater begin a header or a round only where INFLATE_MARGIN bytes follow. The inflater reads fewer bytes
 *   than that: the header of a block has 17 bits, 19 lengths of 3 bits, and 316 lengths of at most 14 bits, which is
 *   563 bytes; the header of a stored block has 7 bytes; a round of unpack_codes() refills at most three times with 7
 *   bytes, and loads 8. fill() keeps INFLATE_REREAD bytes before `next`, because a stored block gives back at most 7
 *   bytes that the inflater has read ahead.
 * - Unpacked bytes. A round of unpack_codes() begins before `limit`. It writes at most three pairs of literals (6
 *   bytes), a match of at most 258 bytes, and 24 bytes beyond the match. The sum is less than INFLATE_SLACK. It
 *   compares each distance with the number of bytes since the start of the window. copy_stored() copies a stored block
 *   only up to `limit`.
 * - Codes. make_table() refuses lengths that don't form a code, so codes fill the first table exactly. It also checks
 *   that each second table fits. A mask of the table's bits limits each lookup. make_table() marks entries that no code
 *   reaches as wrong. read_lengths() compares repetitions with the number of lengths that are left.
 * - Rows. png_rows_open() refuses rows of more than MOST_A_ROW bytes, so no product overflows. unpack() keeps the bytes
 *   from `unread` on, and the window has room for two rows after INFLATE_HISTORY. next_row() unfilters a row only when
 *   all bytes of the row are present. Both row buffers and the window have ROW_PADDING further bytes.
 *
 * Each call of unpack() consumes packed bytes, produces unpacked bytes, or refuses the file, so the file's length
 * bounds the work.
 *
 * Why the bytes equal libvips' output: PNG and deflate define every byte, and libvips does not change the samples of
 * these pictures, because its PNG libraries apply neither gamma nor profile nor significant bits. This reader never
 * guesses: it refuses a file that breaks the rules (a palette in a grey picture, an unknown critical chunk, a checksum
 * that differs, too few or too many pixels), and a file with a transparent colour. */
#include "CPNGRows.h"
#include "inflate.h"
#include "unfilter.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum {
    RAW = 1 << 15,
    PACKED = 1 << 16,
    /* The inflater may read this many bytes past the last packed byte. */
    LOOK_AHEAD = 8,
    UNPACKED = 1 << 17,
    MOST_A_ROW = 1 << 20,
    /* Limits on the number of chunks before or after the pixels, and on the bytes after the pixels. Real files stay far
     * below these limits. */
    MOST_CHUNKS = 1000,
    MOST_BEHIND = 1 << 24,
    CHECKSUM = 4,
};

struct png_rows {
    png_rows_file file;
    png_rows_size size;
    size_t bytes_per_pixel, bytes_per_row;
    /* The index of the next row, and whether the file was refused. */
    int row;
    bool is_refused;

    /* Bytes that were read from the file, but not taken yet. `place` is the file offset of the next read. */
    uint8_t raw[RAW];
    size_t place, raw_begin, raw_end;
    /* The current chunk: the number of its remaining bytes, and the checksum of the bytes so far. */
    uint32_t length, checksum;
    uint8_t name[4];

    /* Packed bytes of the stream of pixels. The bytes from `next` to `packed_end` are unread. */
    uint8_t packed[PACKED + INFLATE_MARGIN + LOOK_AHEAD];
    const uint8_t *next;
    uint8_t *packed_end;
    bool has_all;

    inflater inflater;
    uint32_t adler;
    /* The unpacked bytes from `unread` to `made` belong to rows that are still to be read. Before `unread`, the window
     * keeps earlier bytes, because a match may refer to them. */
    uint8_t *window, *unread, *made, *limit;
    /* Buffers for this row and the row above it, swapped after each row. */
    uint8_t *rows[2];
};

/* Copies the file's next `count` bytes. Returns false if the file has fewer. */
static bool take(png_rows *rows, void *to, size_t count) {
    for (uint8_t *at = to; count > 0;) {
        if (rows->raw_begin == rows->raw_end) {
            ptrdiff_t got = rows->file.read(rows->file.context, rows->raw, RAW, rows->place);
            if (got <= 0 || got > RAW) return false;
            rows->place += (size_t)got;
            rows->raw_begin = 0;
            rows->raw_end = (size_t)got;
        }
        size_t part = rows->raw_end - rows->raw_begin;
        if (part > count) part = count;
        memcpy(at, rows->raw + rows->raw_begin, part);
        rows->raw_begin += part;
        at += part;
        count -= part;
    }
    return true;
}

static uint32_t number(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Takes the head of the next chunk. */
static bool begin_chunk(png_rows *rows) {
    uint8_t head[8];
    if (!take(rows, head, sizeof head)) return false;
    rows->length = number(head);
    memcpy(rows->name, head + 4, sizeof rows->name);
    rows->checksum = libdeflate_crc32(0, rows->name, sizeof rows->name);
    return rows->length <= INT32_MAX;
}

static bool is_chunk(const png_rows *rows, const char *name) { return memcmp(rows->name, name, 4) == 0; }

/* Takes bytes of the chunk. `count` must not exceed the number of bytes left in the chunk. */
static bool take_of_chunk(png_rows *rows, void *to, size_t count) {
    if (!take(rows, to, count)) return false;
    rows->checksum = libdeflate_crc32(rows->checksum, to, count);
    rows->length -= (uint32_t)count;
    return true;
}

/* Takes the checksum at the end of the chunk. Returns false if the checksum differs. */
static bool end_chunk(png_rows *rows) {
    uint8_t stored[CHECKSUM];
    return take(rows, stored, sizeof stored) && number(stored) == rows->checksum;
}

/* Skips the rest of the chunk. */
static bool skip_chunk(png_rows *rows) {
    uint8_t bytes[4096];
    while (rows->length > 0)
        if (!take_of_chunk(rows, bytes, rows->length < sizeof bytes ? rows->length : sizeof bytes)) return false;
    return end_chunk(rows);
}

/* Reads the signature, and the chunks up to the first chunk of pixels. */
static bool read_header(png_rows *rows) {
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const int bands[] = {1, 0, 3, 0, 2, 0, 4};
    uint8_t bytes[13];
    if (!take(rows, bytes, sizeof signature) || memcmp(bytes, signature, sizeof signature) != 0) return false;
    if (!begin_chunk(rows) || !is_chunk(rows, "IHDR") || rows->length != sizeof bytes) return false;
    if (!take_of_chunk(rows, bytes, sizeof bytes) || !end_chunk(rows)) return false;
    uint32_t width = number(bytes), height = number(bytes + 4);
    uint8_t bits = bytes[8], kind = bytes[9], compression = bytes[10], filter = bytes[11], interlace = bytes[12];
    if (width == 0 || height == 0 || height > INT32_MAX || bits != 8) return false;
    if (kind >= sizeof bands / sizeof *bands || bands[kind] == 0) return false;
    if (compression != 0 || filter != 0 || interlace != 0) return false;
    if (width > MOST_A_ROW / (uint32_t)bands[kind]) return false;
    rows->size = (png_rows_size){(int)width, (int)height, bands[kind]};
    for (int i = 0; i < MOST_CHUNKS; i++) {
        if (!begin_chunk(rows)) return false;
        if (is_chunk(rows, "IDAT")) return true;
        bool is_critical = !(rows->name[0] & 0x20), is_palette = is_chunk(rows, "PLTE") && bands[kind] > 2;
        if (is_critical && !is_palette) return false;
        /* Refuses pictures with a transparent colour, and animations. */
        if (is_chunk(rows, "tRNS") || is_chunk(rows, "acTL")) return false;
        if (!skip_chunk(rows)) return false;
    }
    return false;
}

/* Moves the remaining packed bytes to the start, and adds more. */
static bool fill(png_rows *rows) {
    size_t kept = (size_t)(rows->next - rows->packed);
    if (kept > INFLATE_REREAD) kept = INFLATE_REREAD;
    const uint8_t *from = rows->next - kept;
    size_t count = (size_t)(rows->packed_end - from);
    memmove(rows->packed, from, count);
    rows->next = rows->packed + kept;
    rows->packed_end = rows->packed + count;
    while (!rows->has_all && rows->packed_end < rows->packed + PACKED) {
        size_t room = (size_t)(rows->packed + PACKED - rows->packed_end);
        size_t part = rows->length < room ? rows->length : room;
        if (!take_of_chunk(rows, rows->packed_end, part)) return false;
        rows->packed_end += part;
        if (rows->length > 0) break;
        if (!end_chunk(rows) || !begin_chunk(rows)) return false;
        rows->has_all = !is_chunk(rows, "IDAT");
    }
    if (rows->has_all) memset(rows->packed_end, 0, INFLATE_MARGIN + LOOK_AHEAD);
    return true;
}

/* Returns the number of packed bytes that the inflater has not begun to use. */
static size_t left(const png_rows *rows) {
    const uint8_t *used = rows->next - (rows->inflater.count >> 3);
    return used < rows->packed_end ? (size_t)(rows->packed_end - used) : 0;
}

static bool unpack(png_rows *rows) {
    inflater *inflater = &rows->inflater;
    if (rows->made >= rows->limit) {
        size_t kept = (size_t)(rows->made - rows->unread);
        if (kept < INFLATE_HISTORY) kept = INFLATE_HISTORY;
        memmove(rows->window, rows->made - kept, kept);
        rows->unread = rows->window + kept - (rows->made - rows->unread);
        rows->made = rows->window + kept;
    }
    if (!rows->has_all && rows->packed_end - rows->next <= INFLATE_MARGIN && !fill(rows)) return false;
    const uint8_t *end = rows->has_all ? rows->packed_end + LOOK_AHEAD : rows->packed_end - INFLATE_MARGIN;
    const uint8_t *before = rows->made;
    inflate_result result = png_rows_inflate(inflater, &rows->next, end, rows->window, &rows->made, rows->limit);
    rows->adler = libdeflate_adler32(rows->adler, before, (size_t)(rows->made - before));
    if (result == INFLATE_DAMAGED || (result == INFLATE_HUNGRY && rows->has_all)) return false;
    /* The stream's checksum follows its last bits. */
    return !rows->has_all || left(rows) >= CHECKSUM;
}

/* Whether the stream ends after the last row and has the right checksum, and the file ends correctly. */
static bool ends_well(png_rows *rows) {
    while (rows->inflater.state != STREAM_OVER)
        if (rows->made != rows->unread || !unpack(rows)) return false;
    if (rows->made != rows->unread) return false;
    while (!rows->has_all)
        if (left(rows) > CHECKSUM + LOOK_AHEAD || !fill(rows)) return false;
    if (left(rows) != CHECKSUM || number(rows->packed_end - CHECKSUM) != rows->adler) return false;
    size_t behind = 0;
    for (int i = 0; i < MOST_CHUNKS; i++) {
        if (is_chunk(rows, "IEND")) return rows->length == 0 && end_chunk(rows);
        bool is_critical = !(rows->name[0] & 0x20);
        behind += rows->length;
        if (is_critical || behind > MOST_BEHIND || !skip_chunk(rows) || !begin_chunk(rows)) return false;
    }
    return false;
}

/* Reads the head of the stream of pixels. */
static bool begin_stream(png_rows *rows) {
    rows->next = rows->packed_end = rows->packed;
    do
        if (!fill(rows)) return false;
    while (rows->packed_end - rows->packed < 2 && !rows->has_all);
    if (rows->packed_end - rows->packed < 2) return false;
    unsigned method = rows->packed[0], flags = rows->packed[1];
    rows->next += 2;
    rows->inflater.most_distance = (size_t)256 << (method >> 4);
    rows->adler = 1;
    return (method & 15) == 8 && method >> 4 < 8 && !(flags & 0x20) && (method << 8 | flags) % 31 == 0;
}

static bool allocate(png_rows *rows) {
    rows->bytes_per_pixel = (size_t)rows->size.bands;
    rows->bytes_per_row = (size_t)rows->size.width * rows->bytes_per_pixel;
    size_t room = 2 * (rows->bytes_per_row + 1);
    if (room < UNPACKED) room = UNPACKED;
    size_t buffer = ROW_PADDING + rows->bytes_per_row + ROW_PADDING;
    rows->window = calloc(1, INFLATE_HISTORY + room + INFLATE_SLACK + ROW_PADDING);
    rows->rows[0] = calloc(2, buffer);
    if (!rows->window || !rows->rows[0]) return false;
    rows->unread = rows->made = rows->window;
    rows->limit = rows->window + INFLATE_HISTORY + room;
    rows->rows[0] += ROW_PADDING;
    rows->rows[1] = rows->rows[0] + buffer;
    return true;
}

png_rows *png_rows_open(png_rows_file file, png_rows_size *size) {
    png_rows *rows = calloc(1, sizeof *rows);
    if (!rows) return NULL;
    rows->file = file;
    if (!read_header(rows) || !allocate(rows) || !begin_stream(rows)) {
        png_rows_close(rows);
        return NULL;
    }
    *size = rows->size;
    return rows;
}

void png_rows_close(png_rows *rows) {
    if (!rows) return;
    free(rows->window);
    /* If `allocate` has set the second row's pointer, it has also moved the first row's pointer past the padding. */
    free(rows->rows[1] ? rows->rows[0] - ROW_PADDING : rows->rows[0]);
    free(rows);
}

static const uint8_t *next_row(png_rows *rows) {
    size_t stored = 1 + rows->bytes_per_row;
    while ((size_t)(rows->made - rows->unread) < stored)
        if (rows->inflater.state == STREAM_OVER || !unpack(rows)) return NULL;
    int filter = rows->unread[0];
    if (filter >= FILTERS) return NULL;
    uint8_t *row = rows->rows[rows->row & 1], *above = rows->rows[~rows->row & 1];
    png_rows_unfilter(filter, rows->bytes_per_pixel, rows->unread + 1, above, row, rows->bytes_per_row);
    rows->unread += stored;
    rows->row++;
    return rows->row < rows->size.height || ends_well(rows) ? row : NULL;
}

const uint8_t *png_rows_next(png_rows *rows) {
    if (rows->is_refused || rows->row == rows->size.height) return NULL;
    const uint8_t *row = next_row(rows);
    rows->is_refused = !row;
    return row;
}
