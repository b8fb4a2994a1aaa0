/* noir: black and white with deep blacks and bright whites.
 *
 * Maps luma through an S-curve S: luma + strength × (S(luma) − luma). */
#include <pipeline_vips.h>

enum { CONTRAST, STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [CONTRAST] =
        {.name = "contrast",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "1",
         .help = "how steep the S-curve is: 0 is a straight line, 1 the look of noir, 3 almost black or white"},
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how much of the curve is applied: 0 is plain luma, 1 the whole curve"},
};

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    return x + values[STRENGTH].number * (pipeline_s_curve(x, values[CONTRAST].number) - x);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *luma = NULL, *toned = NULL;
    return pipeline_luma(input, &luma) || pipeline_tone(luma, 1, tone, values, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter noir = {
    PIPELINE_FILTER_LAYOUT,
    .name = "noir",
    .version = "1.0.0",
    .summary = "black and white with deep blacks and bright whites",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE | PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &noir;
}
