#pragma once

#include <stddef.h>
#include <stdint.h>

/* Filters a row with the filter whose result is nearest to zero. Writes the filter's number, then the filtered bytes,
 * to `to`. `row` and `above` have ROW_PADDING zero bytes before them. `other` is a buffer of the same size as `to`. */
void png_rows_filter(
    size_t bytes_per_pixel, const uint8_t *row, const uint8_t *above, uint8_t *to, uint8_t *other, size_t count);
