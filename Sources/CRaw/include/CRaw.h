/* LibRaw for Swift. It is C++, and its structures change from version to version: here is a function a call, and no
 * decision. */
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

/* The bytes of a file, and somebody who is told how far the work is. `context` goes with each call. */
typedef struct {
    /* Reads at a place: fewer bytes at the end, and -1 when the disk refuses. */
    ssize_t (*read)(void *context, void *bytes, size_t count, int64_t offset);
    /* Anything but 0 stops the work. */
    int (*progress)(void *context, int stage, int done, int total);
    void *context;
    int64_t size;
} craw_source;

typedef struct {
    /* The sensor's samples, with its margins. */
    int raw_width, raw_height;
    /* The picture's size as it would be developed, before it is turned upright. */
    int width, height;
    /* 1 mirrors, 2 turns upside down, 4 makes columns of rows. */
    int flip;
    int colours;
    /* The colour filters: 0 for none, 9 for X-Trans, more than 1000 for a pattern of two by two. */
    unsigned filters;
    /* Pixels are not square, or lie diagonally. */
    bool is_stretched;
    unsigned dng_version;
    char make[64], model[64], artist[64];
    int64_t timestamp;
    float iso, shutter, aperture, focal_length;
} craw_header;

typedef struct {
    /* As the file says; 0 where it says nothing. */
    int width, height;
    int64_t length;
    bool may_be_jpeg;
} craw_preview;

typedef struct {
    int half_size, bits, camera_white_balance, automatic_brightness;
    double gamma_power, gamma_slope;
} craw_settings;

/* Reads the header, or returns NULL and LibRaw's error. */
craw_file *craw_open(const craw_source *source, int *error);
void craw_close(craw_file *file);

int craw_read_header(craw_file *file, craw_header *header);

/* Previews come behind the header: LibRaw forgets the whole file when one can't be read. */
int craw_preview_count(craw_file *file);
craw_preview craw_preview_at(craw_file *file, int index);
/* The bytes belong to the file until another preview is read. */
int craw_read_preview(craw_file *file, int index, const void **bytes, size_t *length, bool *is_jpeg);

/* Of a file that has just been opened. `data_errors` counts the damage that the decoder went over. */
int craw_develop(craw_file *file, const craw_settings *settings, int *data_errors);
void craw_developed(craw_file *file, int *width, int *height, int *bands, int *bits);
int craw_copy_pixels(craw_file *file, void *pixels, int stride);

/* The farthest place behind the end of the file from which bytes were wanted. */
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
