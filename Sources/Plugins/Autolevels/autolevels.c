/* autolevels: the darkest tone becomes black, the brightest white.
 *
 * The search for these tones ignores `clip` percent of each band's pixels at either end, and all transparent pixels. All bands
 * are stretched linearly by the same amount, which keeps the colours. With `balance`, each band is stretched on its own, which
 * removes a tint. */
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

/* Counts a band's pixels of each value, weighted by alpha if the picture has alpha. */
static int histogram(VipsImage *input, int band, VipsImage **out) {
    PIPELINE_OWNED VipsImage *values = NULL, *alpha = NULL, *counts = NULL;
    if (vips_extract_band(input, &values, band, NULL))
        return -1;
    if (vips_image_hasalpha(input)
            ? vips_extract_band(input, &alpha, input->Bands - 1, NULL)
                || vips_hist_find_indexed(alpha, values, &counts, NULL)
            : vips_hist_find(values, &counts, NULL))
        return -1;
    return vips_cast(counts, out, VIPS_FORMAT_DOUBLE, NULL);
}

/* Finds two values from 0 to 1: at most the part `clip` of a band's pixels is darker than *black, or brighter than *white. */
static int ends(VipsImage *input, int band, double clip, double *black, double *white) {
    PIPELINE_OWNED VipsImage *lazy = NULL, *counts = NULL;
    if (histogram(input, band, &lazy) || !(counts = vips_image_copy_memory(lazy)))
        return -1;
    const double *count = (const double *)counts->data;
    double total = 0, sum = 0;
    int first = 0, last = counts->Xsize - 1;
    for (int i = 0; i < counts->Xsize; i++)
        total += count[i];
    for (sum = count[first]; first < last && sum <= clip * total; sum += count[++first])
        ;
    for (sum = count[last]; last > first && sum <= clip * total; sum += count[--last])
        ;
    *black = (double)first / pipeline_most(input);
    *white = (double)last / pipeline_most(input);
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    Levels levels = {.strength = values[STRENGTH].number};
    int bands = pipeline_colour_bands(input);
    double black = 1, white = 0;
    for (int band = 0; band < bands; band++) {
        if (ends(input, band, values[CLIP].number / 100, &levels.black[band], &levels.white[band]))
            return -1;
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
