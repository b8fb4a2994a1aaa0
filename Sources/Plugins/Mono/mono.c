/* mono: plain black and white.
 *
 * Changes the middle tones of luma with a power, x ^ (½ ^ brightness). Then maps luma through noir's S-curve with
 * `contrast`. */
#include <pipeline_vips.h>

enum { BRIGHTNESS, CONTRAST, PARAMETER_COUNT };

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
};

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    return pipeline_s_curve(pow(x, exp2(-values[BRIGHTNESS].number)), values[CONTRAST].number);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *luma = NULL, *toned = NULL;
    return pipeline_luma(input, &luma) || pipeline_tone(luma, 1, tone, values, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter mono = {
    PIPELINE_FILTER_LAYOUT,
    .name = "mono",
    .version = "1.0.0",
    .summary = "plain black and white",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &mono;
}
