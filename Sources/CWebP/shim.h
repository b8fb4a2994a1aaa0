/* libwebp's decoder and encoder, and its container. */
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>
