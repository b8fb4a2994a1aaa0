#define SCAN jpeg_planes_scan
#include "scan.h"
