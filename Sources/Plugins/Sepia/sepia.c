/* sepia: the brown of an old print.
 *
 * Each band becomes luma ^ power. The power is smallest for red and largest for blue, so that middle tones become
 * brown. Black stays black, and white stays white. */
#include <pipeline_vips.h>

enum { STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how brown: 0 is plain black and white, 1 the whole tone"},
};

static double tone(const void *context, int band, double x) {
    static const double power[] = {0.78, 1.02, 1.4};
    const PipelineValue *values = context;
    return x + values[STRENGTH].number * (pow(x, power[band]) - x);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *luma = NULL, *toned = NULL;
    return pipeline_luma(input, &luma) || pipeline_tone(luma, 3, tone, values, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter sepia = {
    PIPELINE_FILTER_LAYOUT,
    .name = "sepia",
    .version = "1.0.0",
    .summary = "the brown of an old print",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &sepia;
}
