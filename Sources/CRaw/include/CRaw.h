/* LibRaw for Swift. LibRaw is written in C++, and its structures change between versions. So this header declares a C
 * function for each LibRaw call that Swift needs. The functions make no decisions. */
#ifndef PIPELINED_CRAW_H
#define PIPELINED_CRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct craw_file craw_file;

/* Access to a file's bytes, and a callback for progress. Each callback receives `context`. */
typedef struct {
    /* Reads bytes at an offset. Returns fewer than `count` at the end of the file, and -1 if the read fails. */
    ssize_t (*read)(void *context, void *bytes, size_t count, int64_t offset);
    /* If this returns anything but 0, LibRaw stops. */
    int (*progress)(void *context, int stage, int done, int total);
    void *context;
    int64_t size;
} craw_source;

typedef struct {
    /* The size of the sensor's samples, including margins. */
    int raw_width, raw_height;
    /* The size of the developed picture, before it is turned upright. */
    int width, height;
    /* How to turn the developed picture upright, as bits: 1 mirrors, 2 turns upside down, 4 swaps rows and columns. */
    int flip;
    int colours;
    /* The sensor's colour filters: 0 for none, 9 for X-Trans, more than 1000 for a pattern of two by two pixels. */
    unsigned filters;
    /* Whether the sensor's pixels are not square, or are arranged diagonally. */
    bool is_stretched;
    unsigned dng_version;
    char make[64], model[64], artist[64];
    int64_t timestamp;
    float iso, shutter, aperture, focal_length;
} craw_header;

typedef struct {
    /* The size as stated in the file; 0 if the file does not state it. */
    int width, height;
    int64_t length;
    bool may_be_jpeg;
} craw_preview;

typedef struct {
    int half_size, bits, camera_white_balance, automatic_brightness;
    double gamma_power, gamma_slope;
} craw_settings;

/* Opens a file and reads its header. On failure returns NULL, and stores LibRaw's error code. */
craw_file *craw_open(const craw_source *source, int *error);
void craw_close(craw_file *file);

int craw_read_header(craw_file *file, craw_header *header);

/* Read the header before any preview: if LibRaw can't read a preview, it discards everything that it knows about the
 * file. */
int craw_preview_count(craw_file *file);
craw_preview craw_preview_at(craw_file *file, int index);
/* The bytes belong to `file`, and stay valid until another preview is read. */
int craw_read_preview(craw_file *file, int index, const void **bytes, size_t *length, bool *is_jpeg);

/* Develops a file that has just been opened. The decoder ignores errors in the data; their number is stored in
 * *data_errors. */
int craw_develop(craw_file *file, const craw_settings *settings, int *data_errors);
void craw_developed(craw_file *file, int *width, int *height, int *bands, int *bits);
int craw_copy_pixels(craw_file *file, void *pixels, int stride);

/* Returns how far past the end of the file LibRaw tried to read, in bytes. */
int64_t craw_missed(const craw_file *file);

const char *craw_words(int error);
bool craw_is_cancelled(int error);
bool craw_is_end(int error);
bool craw_is_unknown(int error);
bool craw_is_out_of_memory(int error);
extern const int craw_interpolating, craw_loading, craw_converting;

#ifdef __cplusplus
}
#endif

#endif
