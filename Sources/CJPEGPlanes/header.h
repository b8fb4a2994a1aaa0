/* A JPEG's segments before its coded samples. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A Huffman code: the number of codes of each length from 1 to 16, and their values in order. */
typedef struct {
    bool is_defined;
    uint8_t counts[16];
    uint8_t values[256];
} jpeg_code;

typedef struct {
    uint8_t id;
    /* Number of the component's blocks in a group, across and down. The blocks of a group are coded together. */
    uint8_t across, down;
    /* Numbers of the tables that the component uses. */
    uint8_t quantizer, dc, ac;
} jpeg_component;

typedef struct {
    int width, height;
    int count;
    jpeg_component components[3];
    jpeg_code dc[4], ac[4];
    /* The four tables, each in the order of the coefficients in the file. */
    uint8_t quantizers[4][64];
    bool has_quantizer[4];
    /* Groups of blocks between two restart markers; 0 if there are no restarts. */
    int restart_interval;
    /* The first coded byte. */
    const uint8_t *scan;
} jpeg_header;

/* Returns false if the file is not of the kind that CJPEGPlanes decodes. */
bool jpeg_planes_read_header(jpeg_header *header, const uint8_t *file, size_t length);
