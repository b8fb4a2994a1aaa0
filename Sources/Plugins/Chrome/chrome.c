/* chrome: slide film, with stronger colours and more contrast.
 *
 * Multiplies each colour's distance from luma by `saturation`, then maps each band through noir's S-curve with `contrast`. */
#include <pipeline_vips.h>

enum { SATURATION, CONTRAST, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [SATURATION] =
        {.name = "saturation",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "1.3",
         .help = "how far colours are from grey: 0 is grey, 1 leaves them as they are"},
    [CONTRAST] =
        {.name = "contrast",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "0.5",
         .help = "how steep the S-curve is: 0 leaves tones as they are"},
};

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    return pipeline_s_curve(x, values[CONTRAST].number);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *colours = NULL, *vivid = NULL, *toned = NULL;
    return pipeline_colours(input, &colours) || pipeline_saturate(colours, values[SATURATION].number, &vivid)
        || pipeline_tone(vivid, 1, tone, values, &toned) || pipeline_join(toned, input, output);
}

static const PipelineFilter chrome = {
    PIPELINE_FILTER_LAYOUT,
    .name = "chrome",
    .version = "1.0.0",
    .summary = "the strong colours and contrast of slide film",
    .traits = PIPELINE_POINTWISE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &chrome;
}
