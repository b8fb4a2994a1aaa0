/* The state of one decoding. */
#pragma once

#include "codes.h"
#include "include/CJPEGPlanes.h"

/* PADDING is larger than one group plus the bytes that a refill reads; see decode.c. */
enum { MOST_BLOCKS = 6, PADDING = 2048, WINDOW = 32768 };

/* A window of the coded bytes, without the zeros that follow 0xff. */
typedef struct {
    /* The next byte of the file to copy into the window, and the end of the file. In the last window, `next` is at a
     * marker or at the end. */
    const uint8_t *next, *end;
    bool is_last;
    /* The end of the window's bytes, and the last position where a group may begin. */
    const uint8_t *filled, *limit;
    uint8_t window[WINDOW + PADDING];
} coded_bytes;

/* One block of a group. */
typedef struct {
    const dc_codes *dc;
    const ac_codes *ac;
    const int16_t *quantizers;
    bool is_wanted;
    int component;
    /* Number of the component's blocks in a group, and the position of this block among them. */
    int across, down, x, y;
} group_block;

typedef struct {
    /* Coefficients. Entries from 64 on receive the surplus coefficients of a damaged file. */
    int16_t blocks[MOST_BLOCKS][80] __attribute__((aligned(64)));
    /* The quantizers of each component, arranged like the coefficients of a block. */
    int16_t quantizers[3][64] __attribute__((aligned(64)));
    /* Bitwise ORs of the magnitudes of all values between the transform's two passes. At the full size, the ORs include
     * the dequantized coefficients. */
    uint16_t peaks[8];
    /* The place of each coefficient in a block; NOWHERE for surplus coefficients. */
    uint8_t places[64 + 128];
    jpeg_header header;
    int side;
    /* The requested planes. */
    const jpeg_plane *planes;
    int count;
    group_block group[MOST_BLOCKS];
    int group_count;
    dc_codes dc[4];
    ac_codes ac[4];
    coded_bytes coded;
} decoder;

/* Largest accepted magnitude of a value between the transform's two passes. Above this limit, libjpeg-turbo's results
 * differ between processors. Values of an undamaged picture stay far below this limit. */
enum { MOST_PEAK = 16383 };

bool jpeg_planes_scan(decoder *decoder);
bool jpeg_planes_scan_avx2(decoder *decoder);
