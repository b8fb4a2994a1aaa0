/* pipeline_vips.h: libvips helpers that shorten filters in C or C++. This header is optional.
 *
 *     static double negative(const void *values, int band, double x) { return 1 - x; }
 *
 *     static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
 *         PIPELINE_OWNED VipsImage *colours = NULL, *toned = NULL;
 *         return pipeline_colours(input, &colours) || pipeline_tone(colours, 3, negative, values, &toned)
 *             || pipeline_join(toned, input, output);
 *     }
 *
 * Every function that makes a picture returns 0, or nonzero with libvips' error buffer set, as libvips itself does.
 * `pipeline_colours` extracts the colours (1 or 3 bands) from the input of `apply`; `pipeline_join` adds the input's alpha to
 * the colours of the result.
 */
#ifndef PIPELINE_VIPS_H
#define PIPELINE_VIPS_H

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <vips/vips.h>

#include "pipeline_plugin.h"

static inline void pipeline_release(VipsImage **picture) {
    if (*picture)
        g_object_unref(*picture);
}

/* Releases the declared pictures at the end of the block: `PIPELINE_OWNED VipsImage *a = NULL, *b = NULL;`.
 * Pictures that libvips has made from them stay valid, because they hold references of their own. */
#define PIPELINE_OWNED __attribute__((cleanup(pipeline_release)))

/* ---- The input ---- */

/* The input's largest sample: 255 or 65535. */
static inline int pipeline_most(VipsImage *in) {
    return in->BandFmt == VIPS_FORMAT_USHORT ? UINT16_MAX : UINT8_MAX;
}

static inline int pipeline_colour_bands(VipsImage *in) {
    return vips_image_hasalpha(in) ? in->Bands - 1 : in->Bands;
}

/* The input's bands without alpha. */
static inline int pipeline_colours(VipsImage *in, VipsImage **out) {
    return vips_extract_band(in, out, 0, "n", pipeline_colour_bands(in), NULL);
}

/* Rec. 601 luma of the gamma-encoded values, one band in the input's format: what a JPEG stores as Y. */
static inline int pipeline_luma(VipsImage *in, VipsImage **out) {
    static const double weights[] = {0.299, 0.587, 0.114};
    if (pipeline_colour_bands(in) == 1)
        return vips_extract_band(in, out, 0, NULL);
    PIPELINE_OWNED VipsImage *matrix = vips_image_new_matrix_from_array(3, 1, weights, 3);
    PIPELINE_OWNED VipsImage *colours = NULL, *luma = NULL, *whole = NULL;
    return matrix == NULL || pipeline_colours(in, &colours) || vips_recomb(colours, &luma, matrix, NULL)
        || vips_rint(luma, &whole, NULL) || vips_cast(whole, out, in->BandFmt, NULL);
}

/* Converts a length to pixels. Its unit is "px", or "%" for hundredths of the picture's short side. */
static inline double pipeline_length(double length, const char *unit, VipsImage *in) {
    return strcmp(unit, "%") == 0 ? length / 100 * VIPS_MIN(in->Xsize, in->Ysize) : length;
}

/* Converts a colour, `#rrggbb`, to samples from 0 to `most`. */
static inline void pipeline_colour(const char *text, double most, double rgb[3]) {
    unsigned parts[3] = {0, 0, 0};
    sscanf(text, "#%2x%2x%2x", &parts[0], &parts[1], &parts[2]);
    for (int band = 0; band < 3; band++)
        rgb[band] = parts[band] * most / 255;
}

/* The choices of a parameter that places something in a picture. `pipeline_place` returns the part of the free space, from 0 to
 * 1, that belongs to the left of it (x) and above it (y). */
#define PIPELINE_PLACES \
    "centre", "top", "bottom", "left", "right", "top-left", "top-right", "bottom-left", "bottom-right"

static inline void pipeline_place(const char *place, double *x, double *y) {
    *x = strstr(place, "left") ? 0 : strstr(place, "right") ? 1 : 0.5;
    *y = strstr(place, "top") ? 0 : strstr(place, "bottom") ? 1 : 0.5;
}

/* ---- The result ---- */

/* Completes the result of `apply`: rounds `colours` to the format of `like`, and adds the alpha of `like`. */
static inline int pipeline_join(VipsImage *colours, VipsImage *like, VipsImage **out) {
    PIPELINE_OWNED VipsImage *whole = NULL, *samples = NULL, *alpha = NULL, *joined = NULL;
    gboolean is_wide = like->BandFmt == VIPS_FORMAT_USHORT;
    VipsInterpretation grey = is_wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    VipsInterpretation rgb = is_wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
    if (vips_rint(colours, &whole, NULL) || vips_cast(whole, &samples, like->BandFmt, NULL))
        return -1;
    if (vips_image_hasalpha(like)
        && (vips_extract_band(like, &alpha, like->Bands - 1, NULL) || vips_bandjoin2(samples, alpha, &joined, NULL)))
        return -1;
    return vips_copy(
        joined ? joined : samples, out, "interpretation", colours->Bands == 1 ? grey : rgb, NULL);
}

/* Converts a grey picture to red, green and blue; a coloured picture stays unchanged. Keeps alpha. */
static inline int pipeline_rgb(VipsImage *in, VipsImage **out) {
    PIPELINE_OWNED VipsImage *colours = NULL, *three = NULL;
    if (pipeline_colours(in, &colours))
        return -1;
    VipsImage *bands[] = {colours, colours, colours};
    return vips_bandjoin(bands, &three, colours->Bands == 1 ? 3 : 1, NULL) || pipeline_join(three, in, out);
}

/* Reports why the filter failed. Returns -1, which `apply` should return as well. */
static inline int pipeline_refuse(const PipelineHost *host, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline int pipeline_refuse(const PipelineHost *host, const char *format, ...) {
    char message[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    host->fail(host, message);
    return -1;
}

/* ---- Tones ---- */

/* Maps the sample `x` to its value in band `band` of the result. Both range from 0 to 1. */
typedef double (*PipelineTone)(const void *context, int band, double x);

/* Maps colours through a table of `bands` bands, which `tone` computes. If `colours` has one band, each band of the table maps
 * it to a band of the result. If `colours` has three bands, the same band of the table maps each. */
static inline int pipeline_tone(
    VipsImage *colours, int bands, PipelineTone tone, const void *context, VipsImage **out) {
    int most = pipeline_most(colours);
    PIPELINE_OWNED VipsImage *table = vips_image_new_memory();
    vips_image_init_fields(
        table, most + 1, 1, bands, colours->BandFmt, VIPS_CODING_NONE, VIPS_INTERPRETATION_HISTOGRAM, 1, 1);
    if (vips_image_write_prepare(table))
        return -1;
    for (int i = 0; i < (most + 1) * bands; i++) {
        double y = VIPS_CLIP(0, tone(context, i % bands, (double)(i / bands) / most), 1);
        if (most == UINT16_MAX)
            ((uint16_t *)table->data)[i] = (uint16_t)lround(y * most);
        else
            ((uint8_t *)table->data)[i] = (uint8_t)lround(y * most);
    }
    return vips_maplut(colours, out, table, NULL);
}

/* An S-curve through (0, 0), (½, ½) and (1, 1): a straight line when `contrast` is 0, noir's curve when it is 1. */
static inline double pipeline_s_curve(double x, double contrast) {
    double steepness = 6 * contrast;
    if (steepness < 1e-6)
        return x;
    double low = 1 / (1 + exp(steepness / 2)), y = 1 / (1 + exp(-steepness * (x - 0.5)));
    return (y - low) / (1 - 2 * low);
}

/* ---- Pixel by pixel ---- */

/* Up to PIPELINE_RUN neighbouring pixels of one row, the first of them at (`x`, `y`). `samples` has a row of `count` samples for
 * each of the `bands` colours, which are grey, or red, green and blue. If `has_alpha`, one more row has the alpha. Samples are
 * from 0 to 1. */
enum { PIPELINE_RUN = 256 };

typedef struct PipelineRun {
    int x, y, count, bands;
    gboolean has_alpha;
    float samples[4][PIPELINE_RUN];
    /* The same pixels of the picture `beside`, as that picture has them; NULL without one. */
    const float *beside;
} PipelineRun;

/* Changes the samples of a run. libvips calls it from several threads. Values below 0 or above 1 become 0 or 1. */
typedef void (*PipelinePixels)(const void *context, PipelineRun *run);

typedef struct PipelineWork {
    PipelinePixels pixels;
    const void *context;
    /* Whether the input's samples are read. */
    gboolean is_read;
} PipelineWork;

/* Converts samples of 8 or 16 bits to floating point, as parts of white. */
static inline void pipeline_read(const VipsPel *in, gboolean is_wide, int count, float *samples) {
    if (is_wide)
        for (int i = 0; i < count; i++)
            samples[i] = (float)((const uint16_t *)in)[i] * (1.0f / UINT16_MAX);
    else
        for (int i = 0; i < count; i++)
            samples[i] = (float)in[i] * (1.0f / UINT8_MAX);
}

/* The reverse: rounds, and limits what lies beyond black and white. */
static inline void pipeline_write(const float *samples, gboolean is_wide, int count, VipsPel *out) {
    float most = is_wide ? UINT16_MAX : UINT8_MAX;
    for (int i = 0; i < count; i++) {
        float value = samples[i] * most + 0.5f;
        int sample = (int)(value > most ? most : value > 0 ? value : 0);
        if (is_wide)
            ((uint16_t *)out)[i] = (uint16_t)sample;
        else
            out[i] = (VipsPel)sample;
    }
}

/* Computes a region of the result: libvips' generate function. */
static inline int pipeline_generate(VipsRegion *region, void *sequence, void *images, void *memory, gboolean *stop) {
    (void)images;
    (void)stop;
    VipsRegion **from = (VipsRegion **)sequence;
    const PipelineWork *work = (const PipelineWork *)memory;
    const VipsRect *area = &region->valid;
    for (int i = work->is_read ? 0 : 1; from[i]; i++)
        if (vips_region_prepare(from[i], area))
            return -1;
    int step = region->im->Bands;
    gboolean is_wide = region->im->BandFmt == VIPS_FORMAT_USHORT;
    float line[4 * PIPELINE_RUN];
    PipelineRun run;
    memset(&run, 0, sizeof run);
    run.bands = pipeline_colour_bands(region->im);
    run.has_alpha = step > run.bands;
    for (int y = area->top; y < area->top + area->height; y++)
        for (int x = area->left; x < area->left + area->width; x += PIPELINE_RUN) {
            run.x = x;
            run.y = y;
            run.count = VIPS_MIN(PIPELINE_RUN, area->left + area->width - x);
            run.beside = from[1] ? (const float *)VIPS_REGION_ADDR(from[1], x, y) : NULL;
            if (work->is_read)
                pipeline_read(VIPS_REGION_ADDR(from[0], x, y), is_wide, run.count * step, line);
            else
                memset(line, 0, sizeof line);
            for (int band = 0; band < step; band++)
                for (int i = 0; i < run.count; i++)
                    run.samples[band][i] = line[i * step + band];
            work->pixels(work->context, &run);
            for (int band = 0; band < step; band++)
                for (int i = 0; i < run.count; i++)
                    line[i * step + band] = run.samples[band][i];
            pipeline_write(line, is_wide, run.count * step, VIPS_REGION_ADDR(region, x, y));
        }
    return 0;
}

/* A picture like `input`, whose samples `pixels` computes from those of `input`, or from zeros unless `is_read`. */
static inline int pipeline_compute(
    VipsImage *input, gboolean is_read, VipsImage *beside, PipelinePixels pixels, const void *context, size_t size,
    VipsImage **out) {
    VipsImage *result = vips_image_new();
    PipelineWork *work = g_new(PipelineWork, 1);
    work->pixels = pixels;
    work->is_read = is_read;
    work->context = g_memdup2(context, size);
    /* Freed with the result, which alone uses them. */
    g_object_set_data_full(G_OBJECT(result), "pipeline-context", (void *)work->context, g_free);
    g_object_set_data_full(G_OBJECT(result), "pipeline-work", work, g_free);
    VipsImage **images = vips_allocate_input_array(result, input, beside, NULL);
    for (int i = 0; images[i]; i++) {
        g_object_ref(images[i]);
        vips_object_local(result, images[i]);
    }
    if (vips_image_pipeline_array(result, VIPS_DEMAND_STYLE_THINSTRIP, images)
        || vips_image_generate(result, vips_start_many, pipeline_generate, vips_stop_many, images, work)) {
        g_object_unref(result);
        return -1;
    }
    *out = result;
    return 0;
}

/* The result of `apply`: the input, changed by `pixels` in one pass. `context` has `size` bytes, and is copied. `beside` is
 * NULL, or another picture of the same size in floating point, which `pixels` may read. */
static inline int pipeline_pixels(
    VipsImage *input, VipsImage *beside, PipelinePixels pixels, const void *context, size_t size, VipsImage **out) {
    return pipeline_compute(input, TRUE, beside, pixels, context, size, out);
}

/* Rec. 601 luma of a pixel of a run. */
static inline float pipeline_run_luma(const PipelineRun *run, int i) {
    return run->bands == 1 ? run->samples[0][i]
                           : 0.299f * run->samples[0][i] + 0.587f * run->samples[1][i] + 0.114f * run->samples[2][i];
}

/* Multiplies each colour's distance from luma by `saturation`: 0 makes grey, 1 changes nothing. */
static inline void pipeline_saturate(PipelineRun *run, float saturation) {
    for (int i = 0; i < run->count && run->bands == 3; i++) {
        float luma = pipeline_run_luma(run, i);
        for (int band = 0; band < 3; band++)
            run->samples[band][i] = luma + saturation * (run->samples[band][i] - luma);
    }
}

/* ---- Neighbourhoods ---- */

/* Weights colours by alpha, so that a blur does not spread the colours of transparent pixels. A picture without alpha stays as
 * it is. */
static inline int pipeline_premultiply(VipsImage *in, VipsImage **out) {
    return vips_image_hasalpha(in) ? vips_premultiply(in, out, NULL) : vips_copy(in, out, NULL);
}

/* Completes the result of `apply`: reverses `pipeline_premultiply`, and rounds to the format of `like`. */
static inline int pipeline_unpremultiply(VipsImage *in, VipsImage *like, VipsImage **out) {
    PIPELINE_OWNED VipsImage *plain = NULL, *whole = NULL;
    return (vips_image_hasalpha(in) ? vips_unpremultiply(in, &plain, NULL) : vips_copy(in, &plain, NULL))
        || vips_rint(plain, &whole, NULL) || vips_cast(whole, out, like->BandFmt, NULL);
}

#endif
