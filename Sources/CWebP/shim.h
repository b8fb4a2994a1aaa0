/* libwebp's decoder, and its container. */
#include <webp/decode.h>
#include <webp/mux.h>
