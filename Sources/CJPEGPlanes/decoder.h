/* The state of one decoding. */
#pragma once

#include "codes.h"
#include "include/CJPEGPlanes.h"

/* More bytes than a group can have, with those that the reader holds: see decode.c. */
enum { MOST_BLOCKS = 6, PADDING = 2048, WINDOW = 32768 };

/* The coded bytes, without the zeros that follow 0xff, a part of them at a time. */
typedef struct {
    /* The next byte of the file: at a marker, or at the file's end, if the window is the last. */
    const uint8_t *next, *end;
    bool is_last;
    /* Where the window's bytes end, and where a group may begin at the latest. */
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
    /* The component's blocks in a group, and this one's place among them. */
    int across, down, x, y;
} group_block;

typedef struct {
    /* Coefficients, and where those go that a damaged file has beyond the last. */
    int16_t blocks[MOST_BLOCKS][80] __attribute__((aligned(64)));
    /* The quantizers of each component, arranged like the coefficients of a block. */
    int16_t quantizers[3][64] __attribute__((aligned(64)));
    /* The bits of all amounts between the transform's two passes. */
    uint16_t peaks[8];
    /* Where coefficients go in a block, and NOWHERE for those beyond the last. */
    uint8_t places[64 + 128];
    jpeg_header header;
    int side;
    /* The planes that are wanted. */
    const jpeg_plane *planes;
    int count;
    group_block group[MOST_BLOCKS];
    int group_count;
    dc_codes dc[4];
    ac_codes ac[4];
    coded_bytes coded;
} decoder;

/* The largest amount of a value between the transform's two passes. Beyond it, libjpeg-turbo's versions for processors
 * differ from each other. Those of a picture stay far below. */
enum { MOST_PEAK = 16383 };

bool jpeg_planes_scan(decoder *decoder);
bool jpeg_planes_scan_avx2(decoder *decoder);
