#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS,
    /* The code reads and writes a pixel as four bytes. So it may read a few bytes before and after a row, and write a
     * few bytes after the row. The padding makes room for these additional bytes. */
    ROW_PADDING = 8,
};

/* Undoes a PNG filter: computes the row `to` from its filtered bytes `from` and the row `above`. A pixel has 1 to 4
 * bytes. All three rows have ROW_PADDING bytes after `count`; the padding before `to` and `above` is zero. */
void png_rows_unfilter(
    int filter, size_t bytes_per_pixel, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t count);
