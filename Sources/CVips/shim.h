/* libvips for Swift: one static inline wrapper for each variadic call that is needed. */
#ifndef PIPELINED_CVIPS_SHIM_H
#define PIPELINED_CVIPS_SHIM_H

#include <vips/vips.h>

#endif
