/* pipeline_blur.h: a Gaussian blur for filters in C or C++. This header is optional.
 *
 *     static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
 *         PIPELINE_OWNED VipsImage *soft = NULL;
 *         return pipeline_blur(input, 10, PIPELINE_COLOURS, &soft) || pipeline_blurred(soft, input, output);
 *     }
 *
 * libvips' own blurs have drawbacks. The integer blur makes uniform areas darker or lighter. The floating-point blur is
 * exact, but takes several times as long. A wide blur is computed from a shrunk picture, and libvips is slow to enlarge
 * the result.
 */
#ifndef PIPELINE_BLUR_H
#define PIPELINE_BLUR_H

#include "pipeline_vips.h"

/* Makes a picture of floating-point samples. `generate` computes its regions from `in`. libvips frees `memory` together
 * with the picture. */
static inline int pipeline_made(
    VipsImage *in, int width, int height, int bands, VipsGenerateFn generate, void *memory, VipsImage **out) {
    VipsImage *result = vips_image_new();
    g_object_set_data_full(G_OBJECT(result), "pipeline-memory", memory, g_free);
    g_object_ref(in);
    vips_object_local(result, in);
    if (vips_image_pipelinev(result, VIPS_DEMAND_STYLE_FATSTRIP, in, NULL)) {
        g_object_unref(result);
        return -1;
    }
    vips_image_init_fields(
        result, width, height, bands, VIPS_FORMAT_FLOAT, VIPS_CODING_NONE, in->Type, in->Xres, in->Yres);
    if (vips_image_generate(result, vips_start_one, generate, vips_stop_one, in, memory)) {
        g_object_unref(result);
        return -1;
    }
    *out = result;
    return 0;
}

/* ---- The samples to blur ---- */

typedef enum PipelineSamples {
    PIPELINE_COLOURS,
    PIPELINE_LUMA,
    /* The squares of the colours, which are nearly proportional to light. So a bright place outshines the dark places
     * around it, as in a lens. */
    PIPELINE_LIGHT
} PipelineSamples;

typedef struct PipelineWeighing {
    int shrink;
    PipelineSamples samples;
} PipelineWeighing;

/* Replaces the colours of a run with their squares. */
static inline __attribute__((always_inline)) void pipeline_square(PipelineRun *run) {
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] *= run->samples[band][i];
}

/* Replaces a run's samples with the samples to blur, weighted by alpha. */
static inline __attribute__((always_inline)) void pipeline_weigh_run(
    PipelineRun *run, PipelineSamples samples, float most) {
    const float *alpha = run->samples[run->bands];
    if (samples == PIPELINE_LIGHT)
        pipeline_square(run);
    if (samples == PIPELINE_LUMA) {
        /* Rounds luma, as `pipeline_luma` does. */
        for (int i = 0; i < run->count; i++)
            run->samples[0][i] = (float)(int)(pipeline_run_luma(run, i) * most + 0.5f) / most;
        run->bands = 1;
    }
    if (!run->has_alpha)
        return;
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] *= alpha[i];
    if (alpha != run->samples[run->bands])
        memcpy(run->samples[run->bands], alpha, sizeof run->samples[0]);
}

/* Computes the samples to blur for a row of `count` pixels. */
PIPELINE_VECTORS
static inline void pipeline_weigh_row(
    const VipsPel *in, int count, VipsImage *like, PipelineSamples samples, float *out) {
    gboolean is_wide = like->BandFmt == VIPS_FORMAT_USHORT, has_alpha = vips_image_hasalpha(like);
    if (samples != PIPELINE_LUMA && !has_alpha) {
        pipeline_read(in, is_wide, count * like->Bands, out);
        for (int i = 0; samples == PIPELINE_LIGHT && i < count * like->Bands; i++)
            out[i] *= out[i];
        return;
    }
    float line[4 * PIPELINE_RUN];
    PipelineRun run;
    for (int x = 0; x < count; x += PIPELINE_RUN) {
        run.count = VIPS_MIN(PIPELINE_RUN, count - x);
        run.bands = pipeline_colour_bands(like);
        run.has_alpha = has_alpha;
        pipeline_read(in, is_wide, run.count * like->Bands, line);
        pipeline_sort(like->Bands, line, run.count, run.samples);
        pipeline_weigh_run(&run, samples, (float)pipeline_most(like));
        pipeline_unsort(run.bands + run.has_alpha, run.samples, run.count, out);
        in += (size_t)run.count * VIPS_IMAGE_SIZEOF_PEL(like);
        out += run.count * (run.bands + run.has_alpha);
    }
}

PIPELINE_VECTORS
static inline int pipeline_weigh(VipsRegion *region, void *sequence, void *image, void *memory, gboolean *stop) {
    (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    VipsImage *in = (VipsImage *)image;
    const PipelineWeighing *weighing = (const PipelineWeighing *)memory;
    const VipsRect *area = &region->valid;
    int shrink = weighing->shrink, bands = region->im->Bands;
    VipsRect whole = {0, 0, in->Xsize, in->Ysize};
    VipsRect need = {area->left * shrink, area->top * shrink, area->width * shrink, area->height * shrink};
    vips_rect_intersectrect(&whole, &need, &need);
    if (vips_region_prepare(from, &need))
        return -1;
    int count = need.width * bands;
    float scale = 1 / (float)(shrink * shrink), *line = g_new(float, 2 * count), *columns = line + count;
    for (int y = area->top; y < area->top + area->height; y++) {
        float *sums = (float *)VIPS_REGION_ADDR(region, area->left, y);
        if (shrink == 1) {
            pipeline_weigh_row(VIPS_REGION_ADDR(from, area->left, y), area->width, in, weighing->samples, sums);
            continue;
        }
        memset(columns, 0, (size_t)count * sizeof(float));
        for (int i = 0; i < shrink; i++) {
            /* Beyond the picture, repeats its last row and column. */
            int row = VIPS_MIN(y * shrink + i, in->Ysize - 1);
            pipeline_weigh_row(VIPS_REGION_ADDR(from, need.left, row), need.width, in, weighing->samples, line);
            for (int x = 0; x < count; x++)
                columns[x] += line[x];
        }
        for (int x = 0; x < area->width; x++)
            for (int band = 0; band < bands; band++) {
                float sum = 0;
                for (int i = x * shrink; i < (x + 1) * shrink; i++)
                    sum += columns[VIPS_MIN(i, need.width - 1) * bands + band];
                sums[x * bands + band] = sum * scale;
            }
    }
    g_free(line);
    return 0;
}

/* ---- The blur ---- */

typedef struct PipelineKernel {
    int radius;
    float weights[64];
} PipelineKernel;

/* Sixteen samples. A processor adds or multiplies them in a few steps. */
typedef float PipelineLane __attribute__((vector_size(64), aligned(4), may_alias));

/* Blurs `count` samples in one direction: the neighbours of a sample are `step` samples apart. */
static inline __attribute__((always_inline)) void pipeline_sum(
    const PipelineKernel *kernel, const float *middle, int step, int count, float *sums) {
    int i = 0;
    for (int lane = (int)(sizeof(PipelineLane) / sizeof(float)); i + lane <= count; i += lane) {
        PipelineLane sum = kernel->weights[0] * *(const PipelineLane *)(middle + i);
        for (int k = 1; k <= kernel->radius; k++)
            sum += kernel->weights[k]
                * (*(const PipelineLane *)(middle + i - k * step) + *(const PipelineLane *)(middle + i + k * step));
        *(PipelineLane *)(sums + i) = sum;
    }
    for (; i < count; i++) {
        float sum = kernel->weights[0] * middle[i];
        for (int k = 1; k <= kernel->radius; k++)
            sum += kernel->weights[k] * (middle[i - k * step] + middle[i + k * step]);
        sums[i] = sum;
    }
}

/* Blurs the rows that a region needs, and then the region's columns. Beyond the picture, repeats the pixels at its
 * edge. */
PIPELINE_VECTORS
static inline int pipeline_convolve(VipsRegion *region, void *sequence, void *image, void *memory, gboolean *stop) {
    (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    VipsImage *in = (VipsImage *)image;
    const PipelineKernel *kernel = (const PipelineKernel *)memory;
    const VipsRect *area = &region->valid;
    int radius = kernel->radius, bands = in->Bands, samples = area->width * bands, rows = area->height + 2 * radius;
    VipsRect whole = {0, 0, in->Xsize, in->Ysize};
    VipsRect need = {area->left - radius, area->top - radius, area->width + 2 * radius, rows};
    vips_rect_intersectrect(&whole, &need, &need);
    if (vips_region_prepare(from, &need))
        return -1;
    int before = need.left - (area->left - radius), after = area->width + 2 * radius - before - need.width;
    float *line = g_new(float, samples + 2 * radius * bands), *blurred = g_new(float, rows * samples);
    for (int row = 0; row < rows; row++) {
        float *sums = blurred + row * samples;
        int y = area->top - radius + row;
        if (row > 0 && (y <= 0 || y >= in->Ysize)) {
            memcpy(sums, sums - samples, (size_t)samples * sizeof(float));
            continue;
        }
        float *part = line + before * bands;
        memcpy(
            part, VIPS_REGION_ADDR(from, need.left, VIPS_CLIP(0, y, in->Ysize - 1)),
            (size_t)(need.width * bands) * sizeof(float));
        for (int i = 1; i <= before * bands; i++)
            part[-i] = part[bands - i];
        part += need.width * bands;
        for (int i = 0; i < after * bands; i++)
            part[i] = part[i - bands];
        pipeline_sum(kernel, line + radius * bands, bands, samples, sums);
    }
    for (int row = 0; row < area->height; row++)
        pipeline_sum(
            kernel, blurred + (row + radius) * samples, samples, samples,
            (float *)VIPS_REGION_ADDR(region, area->left, area->top + row));
    g_free(line);
    g_free(blurred);
    return 0;
}

static inline PipelineKernel *pipeline_gaussian(double sigma) {
    PipelineKernel *kernel = g_new0(PipelineKernel, 1);
    /* Leaves out weights that are less than 0.02 of the middle weight. */
    kernel->radius = (int)VIPS_MIN(63, ceil(sigma * sqrt(-2 * log(0.02))));
    double sum = 1;
    for (int k = 1; k <= kernel->radius; k++)
        sum += 2 * exp(-k * k / (2 * sigma * sigma));
    for (int k = 0; k <= kernel->radius; k++)
        kernel->weights[k] = (float)((k == 0 ? 1 : exp(-k * k / (2 * sigma * sigma))) / sum);
    return kernel;
}

/* ---- Enlarging ---- */

/* A pixel of up to four samples, in one register. */
typedef float PipelineQuad __attribute__((vector_size(16)));

/* The four neighbours of a place between pixels, and their weights in a cubic curve through them. */
typedef struct PipelineNeighbours {
    int at[4];
    float weights[4];
} PipelineNeighbours;

/* Finds the four pixels of a row that determine pixel `x` of the enlarged row. The row has `size` pixels, and the
 * enlarged row is `shrink` times as long. */
static inline PipelineNeighbours pipeline_neighbours(int x, int shrink, int size) {
    float place = ((float)x + 0.5f) / (float)shrink - 0.5f, first = floorf(place), t = place - first;
    PipelineNeighbours result = {
        {0, 0, 0, 0},
        {((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((4 - 3 * t) * t + 1) * t / 2, (t - 1) * t * t / 2},
    };
    for (int i = 0; i < 4; i++)
        result.at[i] = VIPS_CLIP(0, (int)first - 1 + i, size - 1);
    return result;
}

PIPELINE_VECTORS
static inline int pipeline_enlarge(VipsRegion *region, void *sequence, void *image, void *memory, gboolean *stop) {
    (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    VipsImage *in = (VipsImage *)image;
    int shrink = *(const int *)memory, bands = in->Bands;
    const VipsRect *area = &region->valid;
    int left = pipeline_neighbours(area->left, shrink, in->Xsize).at[0];
    int right = pipeline_neighbours(area->left + area->width - 1, shrink, in->Xsize).at[3];
    int top = pipeline_neighbours(area->top, shrink, in->Ysize).at[0];
    int bottom = pipeline_neighbours(area->top + area->height - 1, shrink, in->Ysize).at[3];
    VipsRect need = {left, top, right - left + 1, bottom - top + 1};
    if (vips_region_prepare(from, &need))
        return -1;
    int samples = area->width * bands;
    PipelineNeighbours *across = g_new(PipelineNeighbours, area->width);
    for (int x = 0; x < area->width; x++)
        across[x] = pipeline_neighbours(area->left + x, shrink, in->Xsize);
    /* First enlarges the rows to their final width. Writes each pixel as four samples; the next pixel overwrites the
     * surplus samples. */
    PipelineQuad *pixels = (PipelineQuad *)g_aligned_alloc0((gsize)need.width, sizeof(PipelineQuad), 16);
    float *rows = g_new(float, need.height * samples + 4);
    for (int row = 0; row < need.height; row++) {
        const float *few = (const float *)VIPS_REGION_ADDR(from, left, top + row);
        for (int x = 0; x < need.width; x++)
            for (int band = 0; band < bands; band++)
                pixels[x][band] = few[x * bands + band];
        for (int x = 0; x < area->width; x++) {
            const PipelineNeighbours *near = across + x;
            PipelineQuad sum = near->weights[0] * pixels[near->at[0] - left] + near->weights[1] * pixels[near->at[1] - left]
                + near->weights[2] * pixels[near->at[2] - left] + near->weights[3] * pixels[near->at[3] - left];
            memcpy(rows + row * samples + x * bands, &sum, sizeof sum);
        }
    }
    for (int y = area->top; y < area->top + area->height; y++) {
        PipelineNeighbours down = pipeline_neighbours(y, shrink, in->Ysize);
        const float *near[4];
        for (int i = 0; i < 4; i++)
            near[i] = rows + (down.at[i] - top) * samples;
        float *out = (float *)VIPS_REGION_ADDR(region, area->left, y);
        for (int i = 0; i < samples; i++)
            out[i] = down.weights[0] * near[0][i] + down.weights[1] * near[1][i] + down.weights[2] * near[2][i]
                + down.weights[3] * near[3][i];
    }
    g_free(across);
    g_aligned_free(pixels);
    g_free(rows);
    return 0;
}

/* ---- For filters ---- */

/* Returns the factor by which a filter may shrink a picture before it blurs the picture with a Gaussian of `sigma`
 * pixels. The blur then looks the same, and costs less. */
static inline int pipeline_shrink(double sigma) {
    return VIPS_MAX(1, (int)(sigma / 3));
}

/* Computes the samples to blur, in floating point from 0 to 1: means of blocks of `shrink` × `shrink` pixels, weighted
 * by alpha. The last band is the alpha, if there is any. */
static inline int pipeline_weighed(VipsImage *in, int shrink, PipelineSamples samples, VipsImage **out) {
    PIPELINE_OWNED VipsImage *weighed = NULL;
    int bands = vips_image_hasalpha(in) + (samples == PIPELINE_LUMA ? 1 : pipeline_colour_bands(in));
    int width = (in->Xsize + shrink - 1) / shrink, height = (in->Ysize + shrink - 1) / shrink;
    PipelineWeighing *weighing = g_new(PipelineWeighing, 1);
    weighing->shrink = shrink;
    weighing->samples = samples;
    if (pipeline_made(in, width, height, bands, pipeline_weigh, weighing, &weighed))
        return -1;
    if (shrink == 1)
        return vips_copy(weighed, out, NULL);
    /* Without a cache, the rows of the input that a strip needs would take much memory. */
    return vips_tilecache(weighed, out, "tile_width", width, "tile_height", 4, "max_tiles", 64, "threaded", TRUE, NULL);
}

/* Blurs the result of `pipeline_weighed` with a Gaussian, and keeps its size. `sigma` is in pixels of the unshrunk
 * input. */
static inline int pipeline_soften(VipsImage *weighed, int shrink, double sigma, VipsImage **out) {
    /* Taking the mean of a block blurs as well, so the Gaussian must blur less. */
    double rest = sqrt(fmax(0.01, sigma * sigma / shrink / shrink - (1 - 1.0 / shrink / shrink) / 12));
    return pipeline_made(
        weighed, weighed->Xsize, weighed->Ysize, weighed->Bands, pipeline_convolve, pipeline_gaussian(rest), out);
}

/* Enlarges a blurred picture to the size of `like`. */
static inline int pipeline_enlarged(VipsImage *soft, int shrink, VipsImage *like, VipsImage **out) {
    PIPELINE_OWNED VipsImage *once = NULL;
    if (shrink == 1)
        return vips_copy(soft, out, NULL);
    if (vips_tilecache(
            soft, &once, "tile_width", soft->Xsize, "tile_height", 16, "max_tiles", -1, "threaded", TRUE, NULL))
        return -1;
    int *factor = g_new(int, 1);
    *factor = shrink;
    return pipeline_made(once, like->Xsize, like->Ysize, soft->Bands, pipeline_enlarge, factor, out);
}

/* Blurs a picture with a Gaussian of `sigma` pixels. Beyond the picture, repeats the pixels at its edge. The result has
 * floating-point samples from 0 to 1, weighted by alpha. Its last band is alpha if the picture has alpha. */
static inline int pipeline_blur(VipsImage *in, double sigma, PipelineSamples samples, VipsImage **out) {
    PIPELINE_OWNED VipsImage *weighed = NULL, *soft = NULL;
    int shrink = pipeline_shrink(sigma);
    return pipeline_weighed(in, shrink, samples, &weighed) || pipeline_soften(weighed, shrink, sigma, &soft)
        || pipeline_enlarged(soft, shrink, in, out);
}

/* Mixes the blurred picture `beside` into a run. `t` has a fraction from 0 to 1 for each pixel: the weight of the
 * blurred picture. A filter that mixes a blur of more than a few pixels with the input needs the trait
 * PIPELINE_WHOLE_PICTURE. */
static inline __attribute__((always_inline)) void pipeline_mix(PipelineRun *run, const float *t) {
    float *alpha = run->samples[run->bands], after[PIPELINE_RUN];
    for (int i = 0; run->has_alpha && i < run->count; i++)
        after[i] = alpha[i] + t[i] * (run->beside[run->bands][i] - alpha[i]);
    for (int band = 0; band < run->bands; band++) {
        float *sample = run->samples[band], *soft = run->beside[band];
        for (int i = 0; !run->has_alpha && i < run->count; i++)
            sample[i] += t[i] * (soft[i] - sample[i]);
        for (int i = 0; run->has_alpha && i < run->count; i++) {
            float weighed = sample[i] * alpha[i];
            sample[i] = after[i] > 0 ? (weighed + t[i] * (soft[i] - weighed)) / after[i] : 0;
        }
    }
    if (run->has_alpha)
        memcpy(alpha, after, sizeof after);
}

PIPELINE_VECTORS
static inline void pipeline_take(const void *context, PipelineRun *run) {
    (void)context;
    const float *alpha = run->beside[run->bands];
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] =
                !run->has_alpha ? run->beside[band][i] : alpha[i] > 0 ? run->beside[band][i] / alpha[i] : 0;
    if (run->has_alpha)
        memcpy(run->samples[run->bands], alpha, sizeof run->samples[0]);
}

/* Makes the result of `apply` from the blurred picture `soft`. Does not read the pixels of `input` again, because a
 * wide blur has already read rows further down. */
static inline int pipeline_blurred(VipsImage *soft, VipsImage *input, VipsImage **out) {
    return pipeline_compute(input, FALSE, soft, pipeline_take, NULL, 0, out);
}

#endif
