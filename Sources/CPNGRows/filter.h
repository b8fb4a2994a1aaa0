#pragma once

#include <stddef.h>
#include <stdint.h>

/* Applies the filter whose bytes are nearest to zero, and writes the filter's number and the bytes to `to`. `row`
 * and `above` have ROW_PADDING zero bytes before them. `other` is a buffer of the same size as `to`. */
void png_rows_filter(
    size_t bytes_per_pixel, const uint8_t *row, const uint8_t *above, uint8_t *to, uint8_t *other, size_t count);
