/* Compares CJPEGPlanes with TurboJPEG: see jpeg-decoder.sh. */
#define _GNU_SOURCE
#include "CJPEGPlanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <turbojpeg.h>

enum { ROUNDS = 15, WIDTH = 4000, HEIGHT = 3000 };

static void fail(const char *why) {
    fprintf(stderr, "jpeg-decoder: %s\n", why);
    exit(1);
}

typedef struct {
    unsigned char *bytes;
    unsigned long length;
    int width, height;
} jpeg;

/* Encodes RGB pixels with the quality and subsampling that many cameras use. */
static jpeg encoded(const unsigned char *pixels, int width, int height) {
    jpeg made = {.width = width, .height = height};
    tjhandle encoder = tjInitCompress();
    if (tjCompress2(encoder, pixels, width, 0, height, TJPF_RGB, &made.bytes, &made.length, TJSAMP_420, 85, 0) != 0) {
        fail("a picture can't be encoded");
    }
    tjDestroy(encoder);
    return made;
}

static jpeg noise(void) {
    unsigned char *pixels = malloc(3 * WIDTH * HEIGHT);
    uint32_t state = 1;
    for (size_t i = 0; i < 3 * WIDTH * HEIGHT; i++) {
        state = state * 1664525 + 1013904223;
        pixels[i] = (unsigned char)(96 + (state >> 26));
    }
    jpeg made = encoded(pixels, WIDTH, HEIGHT);
    free(pixels);
    return made;
}

static jpeg smooth(void) {
    unsigned char *pixels = malloc(3 * WIDTH * HEIGHT);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            unsigned char *pixel = pixels + 3 * ((size_t)y * WIDTH + (size_t)x);
            pixel[0] = (unsigned char)(x * 255 / WIDTH), pixel[1] = (unsigned char)(y * 255 / HEIGHT);
            pixel[2] = (unsigned char)((x + y) * 255 / (WIDTH + HEIGHT));
        }
    }
    jpeg made = encoded(pixels, WIDTH, HEIGHT);
    free(pixels);
    return made;
}

/* Returns one of the project's own pictures, encoded again. */
static jpeg drawn(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("a sample is missing");
    static unsigned char bytes[1 << 24];
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int width, height, sampling, space;
    tjhandle decoder = tjInitDecompress();
    if (tjDecompressHeader3(decoder, bytes, length, &width, &height, &sampling, &space) != 0) fail("no JPEG");
    unsigned char *pixels = malloc(3 * (size_t)width * (size_t)height);
    if (tjDecompress2(decoder, bytes, length, pixels, width, 0, height, TJPF_RGB, 0) != 0) fail("no JPEG");
    tjDestroy(decoder);
    jpeg made = encoded(pixels, width, height);
    free(pixels);
    return made;
}

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void turbo(jpeg file, const jpeg_plane *planes, int count) {
    tjhandle decoder = tjInitDecompress();
    int width, height, sampling, space, status;
    status = tjDecompressHeader3(decoder, file.bytes, file.length, &width, &height, &sampling, &space);
    if (count == 1) {
        status |= tjDecompress2(decoder, file.bytes, file.length, planes[0].samples, planes[0].width,
            (int)planes[0].stride, planes[0].height, TJPF_GRAY, TJFLAG_STOPONWARNING);
    } else {
        unsigned char *samples[3] = {planes[0].samples, planes[1].samples, planes[2].samples};
        int strides[3] = {(int)planes[0].stride, (int)planes[1].stride, (int)planes[2].stride};
        status |= tjDecompressToYUVPlanes(decoder, file.bytes, file.length, samples, planes[0].width, strides,
            planes[0].height, TJFLAG_STOPONWARNING);
    }
    tjDestroy(decoder);
    if (status != 0) fail("TurboJPEG refuses a picture");
}

static void compare(const char *name, jpeg file, int shrink, int count) {
    jpeg_plane planes[2][3];
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < count; i++) {
            int width = (file.width + shrink - 1) / shrink, height = (file.height + shrink - 1) / shrink;
            if (i > 0) width = (width + 1) / 2, height = (height + 1) / 2;
            size_t stride = ((size_t)width + 64) / 64 * 64;
            planes[side][i] = (jpeg_plane){calloc((size_t)height + 1, stride), stride, width, height};
        }
    }
    double least[2] = {1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        double start = processor_time();
        turbo(file, planes[0], count);
        double middle = processor_time();
        if (!jpeg_planes_decode(file.bytes, file.length, shrink, planes[1], count)) fail("a picture is refused");
        double end = processor_time();
        if (middle - start < least[0]) least[0] = middle - start;
        if (end - middle < least[1]) least[1] = end - middle;
    }
    for (int i = 0; i < count; i++) {
        for (int y = 0; y < planes[0][i].height; y++) {
            size_t at = (size_t)y * planes[0][i].stride;
            if (memcmp(planes[0][i].samples + at, planes[1][i].samples + at, (size_t)planes[0][i].width) != 0) {
                fail("the samples differ");
            }
        }
        free(planes[0][i].samples), free(planes[1][i].samples);
    }
    printf("%-16s %-6s 1/%d %8.1f %8.1f %6.2f\n", name, count == 1 ? "luma" : "planes", shrink, least[0], least[1],
        least[1] / least[0]);
    fflush(stdout);
}

static void compare_all(const char *name, jpeg file) {
    for (int count = 1; count <= 3; count += 2) {
        for (int shrink = 1; shrink <= 8; shrink *= 2) compare(name, file, shrink, count);
    }
    tjFree(file.bytes);
}

int main(int count, char **words) {
    printf("%-16s %-6s %-3s %8s %8s %6s\n", "picture", "", "", "turbo ms", "own ms", "ratio");
    for (int i = 1; i < count; i++) {
        const char *name = strrchr(words[i], '/');
        compare_all(name ? name + 1 : words[i], drawn(words[i]));
    }
    compare_all("noise", noise());
    compare_all("smooth", smooth());
}
