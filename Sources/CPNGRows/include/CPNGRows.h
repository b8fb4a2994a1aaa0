/* Reads and packs the pixels of common PNGs, row by row, faster than libpng and libspng.
 *
 * The reader takes non-interlaced pictures with 8 bits per sample: grey, grey with alpha, RGB, and RGB with alpha. It
 * refuses every other file, and every file in which it detects damage; the caller then reads the file with libvips.
 * Each row that the reader returns equals the row that libvips returns.
 *
 * The reader needs some 300 KB and a few rows of memory, no matter how high the picture is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct png_rows png_rows;

typedef struct {
    /* Reads bytes at an offset. Returns the number of bytes read, which is less than `count` only at the end of the
     * file; returns a negative number if the read fails. */
    ptrdiff_t (*read)(void *context, void *bytes, size_t count, size_t offset);
    void *context;
} png_rows_file;

typedef struct {
    int width, height;
    /* Number of samples per pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha. */
    int bands;
} png_rows_size;

/* Reads the header. Returns NULL if the file is refused, or if memory can't be allocated. The file must stay
 * readable until png_rows_close(). */
png_rows *png_rows_open(png_rows_file file, png_rows_size *size);

void png_rows_close(png_rows *rows);

/* Returns the samples of the next row, which are valid until the next call. Returns NULL after the last row, and after
 * the reader has refused the file. Compares all checksums, and reads the file to its end, before it returns the last
 * row. */
const uint8_t *png_rows_next(png_rows *rows);

/* Computes rounded Rec. 601 luma from RGB samples. */
void png_rows_luma(const uint8_t *rgb, uint8_t *luma, size_t count);

/* The packer compresses a PNG's pixels: with libdeflate, or with zlib for drawings. It packs a megabyte of rows at a
 * time, so its memory does not grow with the height of the picture. */
typedef struct png_packer png_packer;

typedef struct {
    /* Receives the next bytes of the stream. Returns false to stop. */
    bool (*write)(void *context, const uint8_t *bytes, size_t count);
    void *context;
} png_packed;

/* Makes a packer for rows with 8 bits per sample. `effort` ranges from 1 to 9. Returns NULL if memory can't be
 * allocated, or if rows of this width could exceed a megabyte (at four samples per pixel). */
png_packer *png_packer_open(int width, int height, int bands, int effort, png_packed packed);

void png_packer_close(png_packer *packer);

/* Takes the samples of the next row. The last row ends the stream. Returns false if `write` returns false, or if the
 * packed bytes don't unpack to the rows again. */
bool png_packer_add(png_packer *packer, const uint8_t *row);

/* Extends a chunk's checksum by these bytes. The checksum begins at 0, and covers the chunk's name and then its
 * content. */
uint32_t png_checksum(uint32_t checksum, const uint8_t *bytes, size_t count);
