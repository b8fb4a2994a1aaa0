/* Decodes common JPEGs to their planes faster than libjpeg-turbo, with the same bytes as its result.
 *
 * It decodes files of 8 bits with Huffman codes and one sequential scan: grey, or YCbCr whose chroma has one block for
 * each one, two or four blocks of luma (4:4:4, 4:2:2, 4:4:0, 4:2:0). It refuses every other file, and every file with
 * damage that it sees; the caller then decodes the file with TurboJPEG. If it accepts a file, TurboJPEG would decode it
 * to the same samples. */
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

/* Whether, according to its header, a file that begins with these bytes can be decoded. False if the header is
 * longer. */
bool jpeg_planes_can_decode(const uint8_t *start, size_t length);

/* Decodes a file at 1/shrink of its size, where shrink is 1, 2, 4 or 8: luma alone if count is 1, or luma, blue and
 * red chroma if it is 3.
 *
 * The planes must have the size of the picture: width and height divided by shrink, rounded up; for chroma, divided
 * again by the subsampling, rounded up. Nothing is written outside the planes.
 *
 * Returns false if the file is refused, if the planes have other sizes, or if memory can't be allocated. The samples
 * are then undefined. */
bool jpeg_planes_decode(const uint8_t *file, size_t length, int shrink, const jpeg_plane *planes, int count);

/* Converts a row of full-range planes by JFIF's formula, in integers of 16 binary places, as libjpeg does. */
void jpeg_planes_rgb(const uint8_t *luma, const uint8_t *blue, const uint8_t *red, uint8_t *rgb, size_t count);
