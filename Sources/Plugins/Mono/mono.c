/* mono: black and white, from luma or from a mix of the channels.
 *
 * Divides the weights of red, green and blue by their sum, so that white stays white. The default weights are luma's
 * weights. Changes middle tones with a power, x ^ (½ ^ brightness). Then maps tones through the same S-curve as the
 * filter noir; `contrast` is its steepness. */
#include <pipeline_vips.h>

enum { BRIGHTNESS, CONTRAST, RED, GREEN, BLUE, PARAMETER_COUNT };

#define WEIGHT(word, usual) \
    {.name = word, .type = PIPELINE_NUMBER, .minimum = -2, .maximum = 2, .default_value = usual, \
     .help = "how much " word " counts, beside the other two; a mix of one's own needs all colours of the picture"}

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [BRIGHTNESS] =
        {.name = "brightness",
         .type = PIPELINE_NUMBER,
         .minimum = -1,
         .maximum = 1,
         .default_value = "0",
         .help = "lighter or darker middle tones; black and white stay where they are"},
    [CONTRAST] =
        {.name = "contrast",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "0",
         .help = "how steep the S-curve is: 0 leaves tones as they are, 1 is noir's"},
    [RED] = WEIGHT("red", "0.299"),
    [GREEN] = WEIGHT("green", "0.587"),
    [BLUE] = WEIGHT("blue", "0.114"),
};

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    return pipeline_s_curve(pow(x, exp2(-values[BRIGHTNESS].number)), values[CONTRAST].number);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *luma = NULL, *toned = NULL;
    const double weights[] = {values[RED].number, values[GREEN].number, values[BLUE].number};
    return pipeline_weighted(input, weights, &luma) || pipeline_tone(luma, 1, tone, values, &toned)
        || pipeline_join(toned, input, output);
}

static const char *const weights[] = {"red", "green", "blue", NULL};

static const PipelineFilter mono = {
    PIPELINE_FILTER_LAYOUT,
    .name = "mono",
    .version = "1.0.0",
    .summary = "plain black and white, of luma or of a mix of the channels",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE | PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
    .needs_colours = weights,
};

const PipelineFilter *pipeline_filter(void) {
    return &mono;
}
