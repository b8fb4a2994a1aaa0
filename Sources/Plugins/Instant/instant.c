/* instant: a warm, faded print from an instant camera.
 *
 * Maps each band through a gentle S-curve to its own range of values: shadows become bluish and highlights yellowish,
 * and no pixel stays quite black. A grey picture becomes coloured. */
#include <pipeline_vips.h>

enum { STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how much of the look: 0 leaves the picture as it is"},
};

static double tone(const void *context, int band, double x) {
    static const double black[] = {0.05, 0.04, 0.13}, white[] = {1, 0.97, 0.82}, power[] = {0.88, 0.98, 1.05};
    const PipelineValue *values = context;
    double print = black[band] + (white[band] - black[band]) * pipeline_s_curve(pow(x, power[band]), 0.4);
    return x + values[STRENGTH].number * (print - x);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *colours = NULL, *toned = NULL;
    return pipeline_colours(input, &colours) || pipeline_tone(colours, 3, tone, values, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter instant = {
    PIPELINE_FILTER_LAYOUT,
    .name = "instant",
    .version = "1.0.0",
    .summary = "a warm, faded print of an instant camera",
    .traits = PIPELINE_POINTWISE | PIPELINE_CURVE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &instant;
}
