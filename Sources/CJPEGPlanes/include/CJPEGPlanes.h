/* Decodes common JPEGs to their planes, faster than libjpeg-turbo and with identical results.
 *
 * It decodes files with 8 bits per sample, Huffman codes and one sequential scan: grey, or YCbCr with one block of each
 * chroma component for one, two or four blocks of luma (4:4:4, 4:2:2, 4:4:0, 4:2:0). It refuses every other file, and
 * every file in which it detects damage; the caller then decodes the file with TurboJPEG. If it accepts a file,
 * TurboJPEG would decode that file to the same samples. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory for the samples of one component. */
typedef struct {
    uint8_t *samples;
    /* Distance between the starts of two rows, in bytes. */
    size_t stride;
    int width, height;
} jpeg_plane;

/* Whether this module can decode the file that begins with these bytes, according to the file's header. False if the
 * header extends beyond these bytes. */
bool jpeg_planes_can_decode(const uint8_t *start, size_t length);

/* Decodes a file at 1/shrink of its size. `shrink` is 1, 2, 4 or 8. If `count` is 1, decodes only luma. If `count` is
 * 3, decodes luma, blue chroma and red chroma.
 *
 * The luma plane must have the width and height of the picture divided by shrink, rounded up. A chroma plane must have
 * the width and height of the luma plane divided by the subsampling, rounded up. Nothing is written outside the planes.
 *
 * Returns false if the file is refused, if the planes have other sizes, or if memory can't be allocated. The samples
 * are then undefined. */
bool jpeg_planes_decode(const uint8_t *file, size_t length, int shrink, const jpeg_plane *planes, int count);

/* Converts a row of full-range planes to RGB by JFIF's formula, with 16 fractional bits, as libjpeg does. */
void jpeg_planes_rgb(const uint8_t *luma, const uint8_t *blue, const uint8_t *red, uint8_t *rgb, size_t count);
