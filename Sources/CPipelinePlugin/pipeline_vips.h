/* pipeline_vips.h: helpers around libvips that make filters in C or C++ shorter. This header is optional.
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
 * `pipeline_colours` extracts the colours (1 or 3 bands) from the input of `apply`; `pipeline_join` adds the input's
 * alpha to the colours of the result.
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

/* Marks a function that works on pixels. The compiler makes two versions of the function: one for processors with AVX2,
 * and one for all other processors. Both have the same results. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define PIPELINE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define PIPELINE_VECTORS
#endif

static inline void pipeline_release(VipsImage **picture) {
    if (*picture)
        g_object_unref(*picture);
}

/* Releases the declared pictures at the end of the block: `PIPELINE_OWNED VipsImage *a = NULL, *b = NULL;`.
 * Pictures that libvips has made from them stay valid, because they hold references of their own. */
#define PIPELINE_OWNED __attribute__((cleanup(pipeline_release)))

/* ---- The input ---- */

/* The sample value of white in the input: 255 or 65535. */
static inline int pipeline_most(VipsImage *in) {
    return in->BandFmt == VIPS_FORMAT_USHORT ? UINT16_MAX : UINT8_MAX;
}

static inline int pipeline_colour_bands(VipsImage *in) {
    return vips_image_hasalpha(in) ? in->Bands - 1 : in->Bands;
}

/* Extracts the input's colour bands, without alpha. */
static inline int pipeline_colours(VipsImage *in, VipsImage **out) {
    return vips_extract_band(in, out, 0, "n", pipeline_colour_bands(in), NULL);
}

/* Computes the mean of red, green and blue with these weights, as one band in the input's format. Divides the weights
 * by their sum, unless the sum is at most 0.1. */
static inline int pipeline_weighted(VipsImage *in, const double weights[3], VipsImage **out) {
    double sum = weights[0] + weights[1] + weights[2], scale = sum > 0.1 && fabs(sum - 1) > 1e-9 ? 1 / sum : 1;
    double scaled[] = {weights[0] * scale, weights[1] * scale, weights[2] * scale};
    if (pipeline_colour_bands(in) == 1)
        return vips_extract_band(in, out, 0, NULL);
    PIPELINE_OWNED VipsImage *matrix = vips_image_new_matrix_from_array(3, 1, scaled, 3);
    PIPELINE_OWNED VipsImage *colours = NULL, *luma = NULL, *whole = NULL;
    return matrix == NULL || pipeline_colours(in, &colours) || vips_recomb(colours, &luma, matrix, NULL)
        || vips_rint(luma, &whole, NULL) || vips_cast(whole, out, in->BandFmt, NULL);
}

/* Rec. 601 luma of the gamma-encoded values, the same as a JPEG's Y. */
static inline int pipeline_luma(VipsImage *in, VipsImage **out) {
    static const double weights[] = {0.299, 0.587, 0.114};
    return pipeline_weighted(in, weights, out);
}

/* Converts a length to pixels. The length's unit is "px", or "%" for hundredths of the picture's short side. */
static inline double pipeline_length_of(double length, const char *unit, int width, int height) {
    return strcmp(unit, "%") == 0 ? length / 100 * VIPS_MIN(width, height) : length;
}

static inline double pipeline_length(double length, const char *unit, VipsImage *in) {
    return pipeline_length_of(length, unit, in->Xsize, in->Ysize);
}

/* Converts a colour, `#rrggbb`, to samples from 0 to `most`. */
static inline void pipeline_colour(const char *text, double most, double rgb[3]) {
    unsigned parts[3] = {0, 0, 0};
    sscanf(text, "#%2x%2x%2x", &parts[0], &parts[1], &parts[2]);
    for (int band = 0; band < 3; band++)
        rgb[band] = parts[band] * most / 255;
}

/* The choices for a parameter that places an object in a picture. `pipeline_place` computes the fractions of the free
 * space, from 0 to 1, that lie to the left of the object (x) and above it (y). */
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

/* ---- Texts and files ---- */

/* Returns a text of the picture, or an empty text if the picture has none. For filters with the trait
 * PIPELINE_READS_TEXTS. */
static inline const char *pipeline_text(const PipelineHost *host, PipelineText which) {
    const char *text = host->size > offsetof(PipelineHost, text) && host->text ? host->text(host, which) : NULL;
    return text ? text : "";
}

/* Returns the bytes of the file that a value names, or NULL if the value names no file. */
static inline const void *pipeline_file(const PipelineHost *host, const PipelineValue *value, size_t *size) {
    return host->size > offsetof(PipelineHost, file) && host->file ? host->file(host, value, size) : NULL;
}

/* Draws a text as a mask from 0 to 255. `points` is the font size; one point is one pixel here. Lines wrap at `width`
 * pixels. If `width` is 0, lines end only at the text's own line breaks. The resolution must never change: when the
 * resolution changes, Debian 12's Pango discards its fonts, and may crash if its thread is still looking for a font
 * (libvips issue 3660). */
static inline int pipeline_letters(const char *text, const char *font, double points, int width, VipsImage **out) {
    char size[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(size, sizeof size, "%.2f", VIPS_MAX(1, points));
    /* Pango reads markup, so escape the text. */
    char *escaped = g_markup_escape_text(text, -1), *sized = g_strdup_printf("%s %s", font, size);
    int failed =
        vips_text(out, escaped, "font", sized, "width", width, "wrap", VIPS_TEXT_WRAP_WORD_CHAR, NULL);
    g_free(escaped);
    g_free(sized);
    return failed;
}

/* Makes the filter fail if there are no fonts. Without fonts, Pango draws boxes, which do not grow with the font
 * size. */
static inline int pipeline_need_fonts(const PipelineHost *host, const char *font) {
    PIPELINE_OWNED VipsImage *small = NULL, *large = NULL;
    if (pipeline_letters("M", font, 40, 0, &small) || pipeline_letters("M", font, 80, 0, &large))
        return -1;
    return small->Xsize == large->Xsize
        ? pipeline_refuse(host, "there are no fonts to write with; install some, such as fonts-dejavu-core")
        : 0;
}

/* ---- Moving pixels ---- */

typedef int (*PipelineArrange)(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *arrangement);

/* Puts a border of one colour, `side` pixels wide, around the picture. */
static inline int pipeline_border(const PipelineHost *host, double side, const char *colour, PipelineArrangement *to) {
    double rgb[3];
    int frame = (int)lround(side);
    if (frame > VIPS_MAX_COORD / 4)
        return pipeline_refuse(host, "a border of %d pixels is too wide; write a smaller width", frame);
    to->left = to->top = -frame;
    to->width += 2 * frame;
    to->height += 2 * frame;
    pipeline_colour(colour, UINT8_MAX, rgb);
    for (int band = 0; band < 3; band++)
        to->colour[band] = (uint8_t)rgb[band];
    return 0;
}

/* Computes the result of `apply` for a filter that moves pixels as `arrange` describes. A grey picture stays grey if
 * the fill colour is grey, or if nothing needs to be filled. */
static inline int pipeline_arranged(
    PipelineArrange arrange, const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
    PIPELINE_OWNED VipsImage *picture = NULL, *part = NULL, *mirror = NULL;
    PipelineArrangement to = {0, 0, in->Xsize, in->Ysize, {0, 0, 0}, 0, 0};
    if (arrange(host, values, in->Xsize, in->Ysize, &to))
        return -1;
    int most = pipeline_most(in), left = to.left, top = to.top;
    const uint8_t *rgb = to.colour;
    double colour[] = {rgb[0] * most / 255.0, rgb[1] * most / 255.0, rgb[2] * most / 255.0, most};
    gboolean is_filled = left < 0 || top < 0 || left + to.width > in->Xsize || top + to.height > in->Ysize;
    gboolean stays = !is_filled || (pipeline_colour_bands(in) == 1 && rgb[0] == rgb[1] && rgb[1] == rgb[2]);
    if (stays ? vips_copy(in, &picture, NULL) : pipeline_rgb(in, &picture))
        return -1;
    VipsArrayDouble *background = vips_array_double_new(colour + (picture->Bands < 3 ? 2 : 0), picture->Bands);
    int failed = vips_embed(
        picture, &part, -left, -top, to.width, to.height, "extend", VIPS_EXTEND_BACKGROUND, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return failed
        || (to.is_mirrored ? vips_flip(part, &mirror, VIPS_DIRECTION_HORIZONTAL, NULL) : vips_copy(part, &mirror, NULL))
        || vips_rot(mirror, out, (VipsAngle)(VIPS_ANGLE_D0 + (to.quarters & 3)), NULL);
}

/* ---- Tones ---- */

/* Maps the sample `x` to its value in band `band` of the result. Sample and value range from 0 to 1. */
typedef double (*PipelineTone)(const void *context, int band, double x);

/* Maps colours through a table of `bands` bands, which `tone` computes. If `colours` has one band, each band of the
 * table maps that band to a band of the result. If `colours` has three bands, each band of the table maps one of these
 * bands. */
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

/* Up to PIPELINE_RUN neighbouring pixels of one row, the first of them at (`x`, `y`). `samples` has a row of `count`
 * samples for each of the `bands` colours, which are grey, or red, green and blue. If `has_alpha` is true, one more row
 * has the alpha. Samples are from 0 to 1. */
enum { PIPELINE_RUN = 256 };

typedef struct PipelineRun {
    int x, y, count, bands;
    gboolean has_alpha;
    float samples[4][PIPELINE_RUN];
    /* The same pixels of the picture `beside`, if there is such a picture: a row for each of its bands. */
    float beside[4][PIPELINE_RUN];
} PipelineRun;

/* A function that changes the samples of a run. libvips calls the function from several threads. Results below 0 become
 * 0, and results above 1 become 1. Simple loops over `count` samples are fast, most of all in a function that is marked
 * with PIPELINE_VECTORS. */
typedef void (*PipelinePixels)(const void *context, PipelineRun *run);

typedef struct PipelineWork {
    PipelinePixels pixels;
    const void *context;
    /* Whether `pixels` reads the input's samples. */
    gboolean is_read;
} PipelineWork;

/* Converts 8-bit or 16-bit samples to floating point, where white is 1. */
static inline void pipeline_read(const VipsPel *in, gboolean is_wide, int count, float *samples) {
    if (is_wide)
        for (int i = 0; i < count; i++)
            samples[i] = (float)((const uint16_t *)in)[i] * (1.0f / UINT16_MAX);
    else
        for (int i = 0; i < count; i++)
            samples[i] = (float)in[i] * (1.0f / UINT8_MAX);
}

/* Converts a sample to a whole number from 0 (black) to `most` (white). */
static inline int pipeline_sample(float value, float most) {
    value = value * most + 0.5f;
    value = value > 0 ? value : 0;
    return (int)(value < most ? value : most);
}

/* The reverse of `pipeline_read`. */
static inline void pipeline_write(const float *samples, gboolean is_wide, int count, VipsPel *out) {
    if (is_wide)
        for (int i = 0; i < count; i++)
            ((uint16_t *)out)[i] = (uint16_t)pipeline_sample(samples[i], UINT16_MAX);
    else
        for (int i = 0; i < count; i++)
            out[i] = (VipsPel)pipeline_sample(samples[i], UINT8_MAX);
}

/* Separates `count` pixels of `bands` samples each into one row for each band. If `bands` is a constant, the compiler
 * makes a fast loop. */
#define PIPELINE_SORT(bands, pixels, count, rows)  \
    for (int i = 0; i < (count); i++)              \
        for (int band = 0; band < (bands); band++) \
            (rows)[band][i] = (pixels)[i * (bands) + band];

static inline __attribute__((always_inline)) void pipeline_sort(
    int bands, const float *pixels, int count, float rows[4][PIPELINE_RUN]) {
    switch (bands) {
    case 1: PIPELINE_SORT(1, pixels, count, rows) break;
    case 2: PIPELINE_SORT(2, pixels, count, rows) break;
    case 3: PIPELINE_SORT(3, pixels, count, rows) break;
    default: PIPELINE_SORT(4, pixels, count, rows)
    }
}

/* The reverse of PIPELINE_SORT. */
#define PIPELINE_UNSORT(bands, rows, count, pixels) \
    for (int i = 0; i < (count); i++)               \
        for (int band = 0; band < (bands); band++)  \
            (pixels)[i * (bands) + band] = (rows)[band][i];

static inline __attribute__((always_inline)) void pipeline_unsort(
    int bands, float rows[4][PIPELINE_RUN], int count, float *pixels) {
    switch (bands) {
    case 1: PIPELINE_UNSORT(1, rows, count, pixels) break;
    case 2: PIPELINE_UNSORT(2, rows, count, pixels) break;
    case 3: PIPELINE_UNSORT(3, rows, count, pixels) break;
    default: PIPELINE_UNSORT(4, rows, count, pixels)
    }
}

/* Computes a region of the result: libvips' generate function. */
PIPELINE_VECTORS
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
            if (from[1])
                pipeline_sort(
                    from[1]->im->Bands, (const float *)VIPS_REGION_ADDR(from[1], x, y), run.count, run.beside);
            if (work->is_read) {
                pipeline_read(VIPS_REGION_ADDR(from[0], x, y), is_wide, run.count * step, line);
                pipeline_sort(step, line, run.count, run.samples);
            } else {
                memset(run.samples, 0, sizeof run.samples);
            }
            work->pixels(work->context, &run);
            pipeline_unsort(step, run.samples, run.count, line);
            pipeline_write(line, is_wide, run.count * step, VIPS_REGION_ADDR(region, x, y));
        }
    return 0;
}

/* Makes a picture with the size and the bands of `input`. `pixels` computes its samples. If `is_read` is true, it
 * computes them from the input's samples, otherwise from zeros. */
static inline int pipeline_compute(
    VipsImage *input, gboolean is_read, VipsImage *beside, PipelinePixels pixels, const void *context, size_t size,
    VipsImage **out) {
    VipsImage *result = vips_image_new();
    PipelineWork *work = g_new(PipelineWork, 1);
    work->pixels = pixels;
    work->is_read = is_read;
    work->context = g_memdup2(context, size);
    /* Only the result uses the context, so libvips frees the context together with the result. */
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

/* Makes the result of `apply`: the input, changed by `pixels` in one pass. Copies the `size` bytes of `context`.
 * `beside` is NULL, or another picture of the same size in floating point, which `pixels` may read. */
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

/* A function as a table: its values at PIPELINE_STEPS + 1 places, from 0 to the argument `end` of `pipeline_draw`.
 * `pipeline_map` interpolates linearly between two places. */
enum { PIPELINE_STEPS = 1024 };

typedef struct PipelineCurve {
    float scale, values[PIPELINE_STEPS + 2];
} PipelineCurve;

/* Fills a curve with the values of `tone` for `band`. The values may lie below 0 or above 1. */
static inline void pipeline_draw(PipelineCurve *curve, double end, PipelineTone tone, const void *context, int band) {
    curve->scale = (float)(PIPELINE_STEPS / end);
    for (int step = 0; step <= PIPELINE_STEPS + 1; step++)
        curve->values[step] = (float)tone(context, band, VIPS_MIN(step, PIPELINE_STEPS) * end / PIPELINE_STEPS);
}

/* Maps samples through a curve. Uses two loops, because the compiler can vectorise both. */
static inline __attribute__((always_inline)) void pipeline_map(
    const PipelineCurve *curve, const float *samples, int count, float *mapped) {
    int steps[PIPELINE_RUN];
    float rests[PIPELINE_RUN];
    for (int i = 0; i < count; i++) {
        float place = (samples[i] > 0 ? samples[i] : 0) * curve->scale;
        place = place < (float)PIPELINE_STEPS ? place : (float)PIPELINE_STEPS;
        steps[i] = (int)place;
        rests[i] = place - (float)steps[i];
    }
    for (int i = 0; i < count; i++) {
        const float *value = curve->values + steps[i];
        mapped[i] = value[0] + rests[i] * (value[1] - value[0]);
    }
}

/* Maps the smallest and the largest sample of each pixel through a curve, and keeps the relative position of the middle
 * sample between them. So each pixel keeps its hue: if each band had a curve of its own, a blue sky would turn cyan. */
static inline __attribute__((always_inline)) void pipeline_map_hues(PipelineRun *run, const PipelineCurve *curve) {
    float low[PIPELINE_RUN], high[PIPELINE_RUN], black[PIPELINE_RUN], white[PIPELINE_RUN];
    if (run->bands == 1) {
        pipeline_map(curve, run->samples[0], run->count, run->samples[0]);
        return;
    }
    for (int i = 0; i < run->count; i++) {
        float red = run->samples[0][i], green = run->samples[1][i], blue = run->samples[2][i];
        float less = red < green ? red : green, more = red < green ? green : red;
        low[i] = less < blue ? less : blue;
        high[i] = more > blue ? more : blue;
    }
    pipeline_map(curve, low, run->count, black);
    pipeline_map(curve, high, run->count, white);
    for (int i = 0; i < run->count; i++)
        white[i] = high[i] > low[i] ? (white[i] - black[i]) / (high[i] - low[i]) : 0;
    for (int band = 0; band < 3; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] = black[i] + white[i] * (run->samples[band][i] - low[i]);
}

/* ---- Neighbourhoods ---- */

/* Weights colours by alpha, so that a blur does not spread the colours of transparent pixels. A picture without alpha
 * stays unchanged. */
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
