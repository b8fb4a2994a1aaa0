/* pipeline_blur.h: a Gaussian blur for filters in C or C++. This header is optional.
 *
 *     static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
 *         PIPELINE_OWNED VipsImage *soft = NULL;
 *         return pipeline_blur(input, 10, FALSE, &soft) || pipeline_blurred(soft, input, output);
 *     }
 *
 * libvips blurs in two ways. Its integer blur makes even areas darker or lighter. Its blur in floating point is exact, but takes
 * several times as long, and enlarges slowly what was made smaller for a wide blur.
 */
#ifndef PIPELINE_BLUR_H
#define PIPELINE_BLUR_H

#include "pipeline_vips.h"

/* Makes a picture of `like`'s kind, of floating-point samples, whose regions `generate` computes of `in`. libvips frees `memory`
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

/* ---- The samples that are blurred ---- */

typedef struct PipelineWeighing {
    int shrink;
    gboolean is_luma;
} PipelineWeighing;

/* Adds a row's samples, weighted by alpha, to the sums of the blocks of `shrink` pixels. Beyond the row, its last pixel is
 * repeated. Leaves the samples themselves in `line`. */
static inline void pipeline_add_row(
    const VipsPel *in, int count, VipsImage *like, const PipelineWeighing *weighing, int blocks, float *line, float *sums) {
    gboolean has_alpha = vips_image_hasalpha(like);
    int step = like->Bands, colours = pipeline_colour_bands(like), shrink = weighing->shrink;
    float most = (float)pipeline_most(like);
    pipeline_read(in, like->BandFmt == VIPS_FORMAT_USHORT, count * step, line);
    for (int x = 0; has_alpha && x < count; x++)
        for (int band = 0; band < colours; band++)
            line[x * step + band] *= line[x * step + colours];
    if (weighing->is_luma) {
        int bands = has_alpha ? 2 : 1;
        for (int x = 0; x < count; x++) {
            const float *sample = line + x * step;
            float alpha = has_alpha ? sample[colours] : 1;
            float luma = colours == 1 ? sample[0] : 0.299f * sample[0] + 0.587f * sample[1] + 0.114f * sample[2];
            /* Luma is rounded, as `pipeline_luma` does. */
            line[x * bands] = alpha > 0 ? (float)(int)(luma / alpha * most + 0.5f) / most * alpha : 0;
            if (has_alpha)
                line[x * bands + 1] = alpha;
        }
        step = bands;
    }
    if (shrink == 1) {
        memcpy(sums, line, (size_t)(blocks * step) * sizeof(float));
        return;
    }
    for (int block = 0, x = 0; block < blocks; block++, sums += step)
        for (int i = 0; i < shrink; i++, x++)
            for (int band = 0; band < step; band++)
                sums[band] += line[VIPS_MIN(x, count - 1) * step + band];
}

static inline int pipeline_weigh(VipsRegion *region, void *sequence, void *image, void *memory, gboolean *stop) {
    (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    VipsImage *in = (VipsImage *)image;
    const PipelineWeighing *weighing = (const PipelineWeighing *)memory;
    const VipsRect *area = &region->valid;
    int shrink = weighing->shrink, samples = area->width * region->im->Bands;
    VipsRect whole = {0, 0, in->Xsize, in->Ysize};
    VipsRect need = {area->left * shrink, area->top * shrink, area->width * shrink, area->height * shrink};
    vips_rect_intersectrect(&whole, &need, &need);
    if (vips_region_prepare(from, &need))
        return -1;
    float scale = 1 / (float)(shrink * shrink), *line = g_new(float, need.width * in->Bands);
    for (int y = area->top; y < area->top + area->height; y++) {
        float *sums = (float *)VIPS_REGION_ADDR(region, area->left, y);
        memset(sums, 0, (size_t)samples * sizeof(float));
        for (int i = 0; i < shrink; i++)
            pipeline_add_row(
                VIPS_REGION_ADDR(from, need.left, VIPS_MIN(y * shrink + i, in->Ysize - 1)), need.width, in, weighing,
                area->width, line, sums);
        for (int i = 0; i < samples; i++)
            sums[i] *= scale;
    }
    g_free(line);
    return 0;
}

/* ---- The blur ---- */

typedef struct PipelineKernel {
    int radius;
    float weights[64];
} PipelineKernel;

/* Blurs the rows that a region needs, and then its columns. Pixels at the picture's edge are repeated beyond it. */
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
    float *line = g_new(float, (area->width + 2 * radius) * bands), *blurred = g_new(float, rows * samples);
    for (int row = 0; row < rows; row++) {
        float *sums = blurred + row * samples;
        int y = area->top - radius + row;
        if (row > 0 && (y <= 0 || y >= in->Ysize)) {
            memcpy(sums, sums - samples, (size_t)samples * sizeof(float));
            continue;
        }
        const float *source = (const float *)VIPS_REGION_ADDR(from, need.left, VIPS_CLIP(0, y, in->Ysize - 1));
        for (int x = 0; x < area->width + 2 * radius; x++) {
            int place = VIPS_CLIP(0, area->left - radius + x, in->Xsize - 1) - need.left;
            for (int band = 0; band < bands; band++)
                line[x * bands + band] = source[place * bands + band];
        }
        const float *middle = line + radius * bands;
        for (int i = 0; i < samples; i++)
            sums[i] = kernel->weights[0] * middle[i];
        for (int k = 1; k <= radius; k++)
            for (int i = 0; i < samples; i++)
                sums[i] += kernel->weights[k] * (middle[i - k * bands] + middle[i + k * bands]);
    }
    for (int row = 0; row < area->height; row++) {
        float *sums = (float *)VIPS_REGION_ADDR(region, area->left, area->top + row);
        const float *middle = blurred + (row + radius) * samples;
        for (int i = 0; i < samples; i++)
            sums[i] = kernel->weights[0] * middle[i];
        for (int k = 1; k <= radius; k++)
            for (int i = 0; i < samples; i++)
                sums[i] += kernel->weights[k] * (middle[i - k * samples] + middle[i + k * samples]);
    }
    g_free(line);
    g_free(blurred);
    return 0;
}

static inline PipelineKernel *pipeline_gaussian(double sigma) {
    PipelineKernel *kernel = g_new0(PipelineKernel, 1);
    /* Weights below 0.02 are left out. */
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

/* The neighbours, in a row of `size` pixels, of pixel `x` of the row that is `shrink` times as long. */
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
    PipelineNeighbours *across = g_new(PipelineNeighbours, area->width);
    for (int x = 0; x < area->width; x++)
        across[x] = pipeline_neighbours(area->left + x, shrink, in->Xsize);
    PipelineQuad *row = (PipelineQuad *)g_aligned_alloc0((gsize)need.width, sizeof(PipelineQuad), 16);
    for (int y = area->top; y < area->top + area->height; y++) {
        PipelineNeighbours down = pipeline_neighbours(y, shrink, in->Ysize);
        const float *rows[4];
        for (int i = 0; i < 4; i++)
            rows[i] = (const float *)VIPS_REGION_ADDR(from, left, down.at[i]);
        for (int x = 0; x < need.width; x++)
            for (int band = 0; band < bands; band++) {
                int at = x * bands + band;
                row[x][band] = down.weights[0] * rows[0][at] + down.weights[1] * rows[1][at]
                    + down.weights[2] * rows[2][at] + down.weights[3] * rows[3][at];
            }
        float *out = (float *)VIPS_REGION_ADDR(region, area->left, y);
        for (int x = 0; x < area->width; x++, out += bands) {
            const PipelineNeighbours *near = across + x;
            PipelineQuad sum = near->weights[0] * row[near->at[0] - left] + near->weights[1] * row[near->at[1] - left]
                + near->weights[2] * row[near->at[2] - left] + near->weights[3] * row[near->at[3] - left];
            for (int band = 0; band < bands; band++)
                out[band] = sum[band];
        }
    }
    g_free(across);
    g_aligned_free(row);
    return 0;
}

/* ---- For filters ---- */

/* Blurs a picture with a Gaussian of `sigma` pixels. The result has floating-point samples from 0 to 1: the colours, or with
 * `is_luma` the luma of the gamma-encoded values, weighted by alpha; and the alpha, if there is any. Pixels at the edge are
 * repeated beyond it. A wide blur is made of a picture that is smaller: it looks the same, and costs less. */
static inline int pipeline_blur(VipsImage *in, double sigma, gboolean is_luma, VipsImage **out) {
    PIPELINE_OWNED VipsImage *weighed = NULL, *few = NULL, *soft = NULL, *once = NULL;
    int shrink = VIPS_MAX(1, (int)(sigma / 3)), bands = vips_image_hasalpha(in) + (is_luma ? 1 : pipeline_colour_bands(in));
    int width = (in->Xsize + shrink - 1) / shrink, height = (in->Ysize + shrink - 1) / shrink;
    /* The mean of a block is a blur as well, so the Gaussian must blur less. */
    double rest = sqrt(sigma * sigma / shrink / shrink - (1 - 1.0 / shrink / shrink) / 12);
    PipelineWeighing *weighing = g_new(PipelineWeighing, 1);
    weighing->shrink = shrink;
    weighing->is_luma = is_luma;
    if (pipeline_made(in, width, height, bands, pipeline_weigh, weighing, &weighed))
        return -1;
    if (shrink == 1)
        return pipeline_made(weighed, width, height, bands, pipeline_convolve, pipeline_gaussian(rest), out);
    int *factor = g_new(int, 1);
    *factor = shrink;
    /* Without the first cache, the rows of the input that a strip needs would take much memory. */
    if (vips_tilecache(weighed, &few, "tile_width", width, "tile_height", 4, "max_tiles", 64, "threaded", TRUE, NULL)
        || pipeline_made(few, width, height, bands, pipeline_convolve, pipeline_gaussian(rest), &soft)
        || vips_tilecache(soft, &once, "tile_width", width, "tile_height", 16, "max_tiles", -1, "threaded", TRUE, NULL)) {
        g_free(factor);
        return -1;
    }
    return pipeline_made(once, in->Xsize, in->Ysize, bands, pipeline_enlarge, factor, out);
}

/* Mixes the part `t`, from 0 to 1, of the blurred picture `beside` into a run. A filter that mixes a blur of more than a few
 * pixels with the input needs the trait PIPELINE_WHOLE_PICTURE. */
static inline void pipeline_mix(PipelineRun *run, float t) {
    int step = run->bands + (run->has_alpha ? 1 : 0);
    if (!run->has_alpha) {
        for (int band = 0; band < run->bands; band++)
            for (int i = 0; i < run->count; i++)
                run->samples[band][i] += t * (run->beside[i * step + band] - run->samples[band][i]);
        return;
    }
    for (int i = 0; i < run->count; i++) {
        const float *soft = run->beside + i * step;
        float before = run->samples[run->bands][i], after = before + t * (soft[run->bands] - before);
        run->samples[run->bands][i] = after;
        for (int band = 0; band < run->bands; band++) {
            float weighed = run->samples[band][i] * before;
            weighed += t * (soft[band] - weighed);
            run->samples[band][i] = after > 0 ? weighed / after : 0;
        }
    }
}

static inline void pipeline_take(const void *context, PipelineRun *run) {
    (void)context;
    pipeline_mix(run, 1);
}

/* The result of `apply`: the blurred picture `soft`. Reads nothing else of the input, of which a wide blur is rows ahead. */
static inline int pipeline_blurred(VipsImage *soft, VipsImage *input, VipsImage **out) {
    return pipeline_compute(input, FALSE, soft, pipeline_take, NULL, 0, out);
}

#endif
