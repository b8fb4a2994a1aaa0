/* sharpen: an unsharp mask over luma.
 *
 * Computes the difference between luma and blurred luma, reduces it by `threshold`, and multiplies it by `amount`. Adds the
 * result to all bands alike, so that edges keep their colour. Transparent pixels have no weight in the blur. */
#include <pipeline_vips.h>

enum { AMOUNT, RADIUS, THRESHOLD, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [AMOUNT] =
        {.name = "amount",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 5,
         .default_value = "0.8",
         .help = "how much"},
    [RADIUS] =
        {.name = "radius",
         .type = PIPELINE_NUMBER,
         .minimum = 0.3,
         .maximum = 5,
         .default_value = "1",
         .unit = "px",
         .help = "how wide the lines are that become clearer: the Gaussian's sigma"},
    [THRESHOLD] =
        {.name = "threshold",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 50,
         .default_value = "1",
         .unit = "%",
         .help = "differences up to this are left alone, so that noise is not sharpened"},
};

/* Differences of luma, from -most to most, are scaled to indices of a table with 65536 entries. NONE is the index of the
 * difference 0. */
enum { NONE = 32768 };

static double rest(const void *context, int band, double x) {
    (void)band;
    const double *threshold = context;
    double difference = UINT16_MAX * x - NONE;
    return (NONE + copysign(fmax(0, fabs(difference) - *threshold / 100 * NONE), difference)) / UINT16_MAX;
}

/* Computes the difference between luma and blurred luma, as indices of the table. */
static int difference(VipsImage *input, double radius, VipsImage **out) {
    PIPELINE_OWNED VipsImage *luma = NULL, *grey = NULL, *plain = NULL, *soft = NULL, *around = NULL, *mean = NULL;
    PIPELINE_OWNED VipsImage *more = NULL, *index = NULL;
    return pipeline_luma(input, &luma) || pipeline_join(luma, input, &grey) || pipeline_premultiply(grey, &plain)
        || pipeline_blur(plain, radius, &soft) || pipeline_unpremultiply(soft, input, &around)
        || pipeline_luma(around, &mean) || vips_subtract(luma, mean, &more, NULL)
        || vips_linear1(more, &index, (NONE - 1.0) / pipeline_most(input), NONE + 0.5, NULL)
        || vips_cast(index, out, VIPS_FORMAT_USHORT, NULL);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *index = NULL, *kept = NULL, *edges = NULL, *colours = NULL, *sharp = NULL;
    double gain = values[AMOUNT].number * pipeline_most(input) / (NONE - 1.0);
    return difference(input, values[RADIUS].number, &index)
        || pipeline_tone(index, 1, rest, &values[THRESHOLD].number, &kept)
        || vips_linear1(kept, &edges, gain, -gain * NONE, NULL) || pipeline_colours(input, &colours)
        || vips_add(colours, edges, &sharp, NULL) || pipeline_join(sharp, input, output);
}

static const PipelineFilter sharpen = {
    PIPELINE_FILTER_LAYOUT,
    .name = "sharpen",
    .version = "1.0.0",
    .summary = "clearer edges",
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &sharpen;
}
