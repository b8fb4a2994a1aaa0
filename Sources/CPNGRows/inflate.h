/* Unpacks a deflate stream (RFC 1951) piece by piece. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Maximum distance of a match. */
    INFLATE_HISTORY = 1 << 15,
    /* Readable bytes after `end`: a block's header has at most 563 bytes, and a round of unpack_codes() reads a little
     * ahead. */
    INFLATE_MARGIN = 1024,
    /* Readable bytes before `next`: a stored block gives back at most this many bytes that were read ahead. */
    INFLATE_REREAD = 8,
    /* Writable bytes after `limit`: three entries of two literals, a match of 258 bytes, and 24 bytes that copy_match()
     * writes beyond the match. */
    INFLATE_SLACK = 320,

    LITERAL_BITS = 11,
    DISTANCE_BITS = 8,
    /* The largest tables that codes for 286 and 30 symbols need, as computed by zlib's `enough`, rounded up. */
    LITERAL_ENTRIES = 2400,
    DISTANCE_ENTRIES = 416,
};

typedef struct {
    /* The next bits of the stream. The first `count` bits come from bytes before `next`. */
    uint64_t bits;
    unsigned count;
    enum { BLOCK_BEGINS, BLOCK_OF_CODES, BLOCK_STORED, STREAM_OVER } state;
    bool is_last;
    /* Whether a table entry may hold two literals. */
    bool has_pairs;
    /* The position at which the latest block begins: a byte, and a bit within that byte. */
    const uint8_t *block;
    unsigned block_bit;
    /* Remaining bytes of a stored block. */
    size_t stored;
    /* The longest distance that the stream's header allows. */
    size_t most_distance;
    uint32_t literals[LITERAL_ENTRIES];
    uint32_t distances[DISTANCE_ENTRIES];
} inflater;

typedef enum { INFLATE_FULL, INFLATE_HUNGRY, INFLATE_OVER, INFLATE_DAMAGED } inflate_result;

/* Unpacks from `*next` until `*made` reaches `limit`, `*next` reaches `end`, or the stream ends.
 *
 * After `end` there must be INFLATE_MARGIN readable bytes: the stream's own, or zeros after its last byte. Before
 * `*next` there must be INFLATE_REREAD bytes of the stream, or all its earlier bytes if there are fewer. After `limit`
 * there must be INFLATE_SLACK writable bytes. The bytes from `oldest` to `*made` were unpacked earlier. */
inflate_result png_rows_inflate(
    inflater *inflater, const uint8_t **next, const uint8_t *end, const uint8_t *oldest, uint8_t **made,
    uint8_t *limit);
