/* autolevels: the darkest tone becomes black, and the brightest tone becomes white.
 *
 * The search for these tones ignores the darkest and the brightest `clip` percent of each band's pixels, and all
 * transparent pixels. The filter stretches all bands linearly by the same amount, which keeps the colours. With
 * `balance`, it stretches each band on its own, which removes a tint. */
#include <pipeline_vips.h>

enum { CLIP, BALANCE, STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [CLIP] =
        {.name = "clip",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 20,
         .default_value = "0.5",
         .unit = "%",
         .help = "so many of the pixels may become quite black, and as many quite white"},
    [BALANCE] =
        {.name = "balance",
         .type = PIPELINE_BOOLEAN,
         .default_value = "no",
         .help = "each band by itself: takes a colour cast away"},
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how much of it is applied"},
};

typedef struct Levels {
    double black[3], white[3], strength;
} Levels;

static double stretch(const void *context, int band, double x) {
    const Levels *levels = context;
    double range = levels->white[band] - levels->black[band];
    double y = range > 0 ? VIPS_CLIP(0, (x - levels->black[band]) / range, 1) : x;
    return x + levels->strength * (y - x);
}

static int sample(const VipsPel *row, gboolean is_wide, int i) {
    return is_wide ? ((const uint16_t *)row)[i] : row[i];
}

/* Counts how many of a band's pixels have each value, weighted by alpha if the picture has alpha. The picture must be
 * in memory. */
static void count(VipsImage *input, int band, uint64_t *counts) {
    int step = input->Bands, width = input->Xsize;
    gboolean has_alpha = vips_image_hasalpha(input), is_wide = input->BandFmt == VIPS_FORMAT_USHORT;
    for (int y = 0; y < input->Ysize; y++) {
        const VipsPel *row = VIPS_IMAGE_ADDR(input, 0, y);
        for (int x = 0; x < width * step; x += step)
            counts[sample(row, is_wide, x + band)] += has_alpha ? (uint64_t)sample(row, is_wide, x + step - 1) : 1;
    }
}

/* Finds two values from 0 to 1. At most the fraction `clip` of a band's pixels is darker than *black, and at most that
 * fraction is brighter than *white. */
static void ends(VipsImage *input, int band, double clip, double *black, double *white) {
    int first = 0, most = pipeline_most(input), last = most;
    uint64_t *counts = g_new0(uint64_t, most + 1);
    count(input, band, counts);
    double total = 0, sum = 0;
    for (int i = 0; i <= most; i++)
        total += (double)counts[i];
    for (sum = (double)counts[first]; first < last && sum <= clip * total; sum += (double)counts[++first])
        ;
    for (sum = (double)counts[last]; last > first && sum <= clip * total; sum += (double)counts[--last])
        ;
    g_free(counts);
    *black = (double)first / most;
    *white = (double)last / most;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    Levels levels = {.strength = values[STRENGTH].number};
    int bands = pipeline_colour_bands(input);
    double black = 1, white = 0;
    if (!input->data)
        return pipeline_refuse(host, "the host did not load the picture into memory");
    for (int band = 0; band < bands; band++) {
        ends(input, band, values[CLIP].number / 100, &levels.black[band], &levels.white[band]);
        black = fmin(black, levels.black[band]);
        white = fmax(white, levels.white[band]);
    }
    for (int band = 0; band < bands && values[BALANCE].number == 0; band++) {
        levels.black[band] = black;
        levels.white[band] = white;
    }
    PIPELINE_OWNED VipsImage *colours = NULL, *toned = NULL;
    return pipeline_colours(input, &colours) || pipeline_tone(colours, bands, stretch, &levels, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter autolevels = {
    PIPELINE_FILTER_LAYOUT,
    .name = "autolevels",
    .version = "1.0.0",
    .summary = "the darkest tone becomes black, the brightest white",
    .traits = PIPELINE_WHOLE_PICTURE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &autolevels;
}
