#ifdef __x86_64__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define HAS_AVX2
#define SCAN jpeg_planes_scan_avx2
#include "scan.h"
#pragma clang attribute pop
#endif
