/* fade: a photograph that has hung in the sun.
 *
 * Reduces the distance of colours from luma. Then maps each band linearly, so that black becomes lighter and white darker. */
#include <pipeline_vips.h>

enum { STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how faded: 0 leaves the picture as it is"},
};

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    double black = 0.16 * values[STRENGTH].number, white = 1 - 0.05 * values[STRENGTH].number;
    return black + (white - black) * x;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *colours = NULL, *pale = NULL, *toned = NULL;
    return pipeline_colours(input, &colours) || pipeline_saturate(colours, 1 - 0.35 * values[STRENGTH].number, &pale)
        || pipeline_tone(pale, 1, tone, values, &toned) || pipeline_join(toned, input, output);
}

static const PipelineFilter fade = {
    PIPELINE_FILTER_LAYOUT,
    .name = "fade",
    .version = "1.0.0",
    .summary = "pale colours, lifted blacks",
    .traits = PIPELINE_POINTWISE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &fade;
}
