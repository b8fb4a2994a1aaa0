/* straighten: turns the picture by a few degrees, so that the horizon is level.
 *
 * Keeps the largest centred part that has the picture's proportions and no empty corner. Computes each pixel by cubic
 * interpolation of the 4 × 4 pixels around its place. Transparent pixels have no weight in the interpolation. */
#include <pipeline_blur.h>

enum { ANGLE, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [ANGLE] =
        {.name = "angle",
         .type = PIPELINE_NUMBER,
         .minimum = -45,
         .maximum = 45,
         .default_value = "0",
         .unit = "degrees",
         .help = "how far it turns, clockwise"},
};

/* Two neighbouring pixels of up to four samples, in one register. */
typedef float Pair __attribute__((vector_size(32), aligned(16), may_alias));

/* The weights of the four pixels around a place, for a cubic curve through them. The place lies at one of FINENESS
 * steps between the second and the third pixel. The table repeats each weight for the four samples of a pixel. */
enum { FINENESS = 256 };

typedef struct Weights {
    Pair pairs[FINENESS][2];
} Weights;

static void weigh(Weights *weights) {
    for (int step = 0; step < FINENESS; step++) {
        float t = ((float)step + 0.5f) / FINENESS;
        float each[] = {
            ((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2, ((4 - 3 * t) * t + 1) * t / 2, (t - 1) * t * t / 2};
        for (int i = 0; i < 16; i++)
            weights->pairs[step][i / 8][i % 8] = each[i / 4];
    }
}

typedef struct Turn {
    float across, down; /* the cosine and the sine of the angle */
    int width, height;  /* of the result */
    Weights weights;
} Turn;

/* Computes where the centre of a result's pixel lies in the input, relative to the centre of the input's first
 * pixel. */
static inline void place(const Turn *turn, VipsImage *in, int x, int y, float *left, float *top) {
    float right = (float)x + 0.5f - (float)turn->width / 2, below = (float)y + 0.5f - (float)turn->height / 2;
    *left = turn->across * right + turn->down * below + (float)(in->Xsize - 1) / 2;
    *top = turn->across * below - turn->down * right + (float)(in->Ysize - 1) / 2;
}

/* Returns the pixels of an area of the input, with colours weighted by alpha. Beyond the picture, repeats the pixels at
 * its edge. */
PIPELINE_VECTORS
static PipelineQuad *pixels(VipsRegion *from, const VipsRect *area) {
    VipsImage *in = from->im;
    int bands = in->Bands, width = area->width;
    gboolean is_wide = in->BandFmt == VIPS_FORMAT_USHORT, has_alpha = vips_image_hasalpha(in);
    PipelineQuad *result = (PipelineQuad *)g_aligned_alloc0((gsize)width * area->height, sizeof(PipelineQuad), 16);
    int left = VIPS_CLIP(0, area->left, in->Xsize - 1), right = VIPS_CLIP(0, area->left + width - 1, in->Xsize - 1);
    float *line = g_new(float, (right - left + 1) * bands + 4);
    for (int y = 0; y < area->height; y++) {
        int row = VIPS_CLIP(0, area->top + y, in->Ysize - 1);
        PipelineQuad *pixel = result + y * width;
        pipeline_read(VIPS_REGION_ADDR(from, left, row), is_wide, (right - left + 1) * bands, line);
        /* If a pixel has fewer than four samples, also copies samples of the next pixel, which the result does not
         * use. */
        for (int i = left; i <= right; i++)
            memcpy(pixel + i - area->left, line + (i - left) * bands, sizeof *pixel);
        for (int x = left - area->left; has_alpha && x <= right - area->left; x++) {
            float alpha = pixel[x][bands - 1];
            pixel[x] *= alpha;
            pixel[x][bands - 1] = alpha;
        }
        for (int x = area->left; x < left; x++)
            pixel[x - area->left] = pixel[left - area->left];
        for (int x = right + 1; x < area->left + width; x++)
            pixel[x - area->left] = pixel[right - area->left];
    }
    g_free(line);
    return result;
}

/* Makes a part of the result that is at most PIPELINE_RUN pixels wide. */
PIPELINE_VECTORS
static int make_part(VipsRegion *region, VipsRegion *from, const Turn *turn, const VipsRect *area) {
    VipsImage *in = from->im;
    float x[4], y[4];
    for (int i = 0; i < 4; i++)
        place(
            turn, in, area->left + (i % 2) * (area->width - 1), area->top + (i / 2) * (area->height - 1), &x[i], &y[i]);
    int left = (int)floorf(fminf(fminf(x[0], x[1]), fminf(x[2], x[3]))) - 1;
    int top = (int)floorf(fminf(fminf(y[0], y[1]), fminf(y[2], y[3]))) - 1;
    int right = (int)floorf(fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]))) + 3;
    int bottom = (int)floorf(fmaxf(fmaxf(y[0], y[1]), fmaxf(y[2], y[3]))) + 3;
    VipsRect need = {left, top, right - left + 1, bottom - top + 1}, whole = {0, 0, in->Xsize, in->Ysize}, there;
    vips_rect_intersectrect(&whole, &need, &there);
    if (vips_region_prepare(from, &there))
        return -1;
    PipelineQuad *near = pixels(from, &need);
    int bands = in->Bands, starts[PIPELINE_RUN], across[PIPELINE_RUN], down[PIPELINE_RUN];
    gboolean has_alpha = vips_image_hasalpha(in), is_wide = in->BandFmt == VIPS_FORMAT_USHORT;
    float line[4 * PIPELINE_RUN + 4];
    for (int row = area->top; row < area->top + area->height; row++) {
        for (int i = 0; i < area->width; i++) {
            place(turn, in, area->left + i, row, &x[0], &y[0]);
            float column = floorf(x[0]), upper = floorf(y[0]);
            across[i] = (int)((x[0] - column) * FINENESS);
            down[i] = (int)((y[0] - upper) * FINENESS);
            starts[i] = ((int)upper - 1 - top) * need.width + (int)column - 1 - left;
        }
        for (int i = 0; i < area->width; i++) {
            const Pair *weights = turn->weights.pairs[across[i]], *rows = turn->weights.pairs[down[i]];
            const PipelineQuad *pixel = near + starts[i];
            Pair sums = {0};
            for (int k = 0; k < 4; k++, pixel += need.width)
                sums += rows[k / 2][k % 2 * 4]
                    * (weights[0] * *(const Pair *)pixel + weights[1] * *(const Pair *)(pixel + 2));
            float alpha = has_alpha ? sums[bands - 1] + sums[bands + 3] : 1;
            PipelineQuad sum = {sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]};
            if (has_alpha) {
                sum = alpha > 0 ? sum / alpha : sum * 0;
                sum[bands - 1] = alpha;
            }
            memcpy(line + i * bands, &sum, sizeof sum);
        }
        pipeline_write(line, is_wide, area->width * bands, VIPS_REGION_ADDR(region, area->left, row));
    }
    g_aligned_free(near);
    return 0;
}

/* Computes a region in small parts, so that each part needs few pixels of the input. */
static int generate(VipsRegion *region, void *from, void *image, void *turn, gboolean *stop) {
    (void)image;
    (void)stop;
    const VipsRect *all = &region->valid;
    for (int top = 0; top < all->height; top += 64)
        for (int left = 0; left < all->width; left += 64) {
            VipsRect part = {
                all->left + left, all->top + top, VIPS_MIN(64, all->width - left), VIPS_MIN(64, all->height - top)};
            if (make_part(region, (VipsRegion *)from, turn, &part))
                return -1;
        }
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    double radians = values[ANGLE].number * acos(-1) / 180, width = input->Xsize, height = input->Ysize;
    if (radians == 0)
        return vips_copy(input, output, NULL);
    double across = cos(radians), down = fabs(sin(radians));
    double part = fmin(width / (width * across + height * down), height / (width * down + height * across));
    Turn *turn = (Turn *)g_aligned_alloc0(1, sizeof(Turn), 32);
    turn->across = (float)across;
    turn->down = (float)sin(radians);
    turn->width = VIPS_MAX(1, (int)(width * part));
    turn->height = VIPS_MAX(1, (int)(height * part));
    weigh(&turn->weights);
    VipsImage *result = vips_image_new();
    /* Only the result uses `turn`, so it is freed with the result. */
    g_object_set_data_full(G_OBJECT(result), "straighten-turn", turn, g_aligned_free);
    g_object_ref(input);
    vips_object_local(result, input);
    int failed = vips_image_pipelinev(result, VIPS_DEMAND_STYLE_SMALLTILE, input, NULL);
    result->Xsize = turn->width;
    result->Ysize = turn->height;
    if (failed || vips_image_generate(result, vips_start_one, generate, vips_stop_one, input, turn)) {
        g_object_unref(result);
        return -1;
    }
    *output = result;
    return 0;
}

static const PipelineFilter straighten = {
    PIPELINE_FILTER_LAYOUT,
    .name = "straighten",
    .version = "1.0.0",
    .summary = "turns the picture by a few degrees, and crops the corners",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_WHOLE_PICTURE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &straighten;
}
