/* duotone: a print in two inks.
 *
 * Maps luma through noir's S-curve with `contrast`, then to a gradient from the dark colour to the light colour. */
#include <pipeline_vips.h>

enum { DARK, LIGHT, CONTRAST, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [DARK] =
        {.name = "dark",
         .type = PIPELINE_COLOUR,
         .default_value = "#14123f",
         .help = "what black becomes"},
    [LIGHT] =
        {.name = "light",
         .type = PIPELINE_COLOUR,
         .default_value = "#ffe0ad",
         .help = "what white becomes"},
    [CONTRAST] =
        {.name = "contrast",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "0.6",
         .help = "how steep the S-curve between them is: 0 is a straight line"},
};

typedef struct Inks {
    double dark[3], light[3], contrast;
} Inks;

static double tone(const void *context, int band, double x) {
    const Inks *inks = context;
    return inks->dark[band] + (inks->light[band] - inks->dark[band]) * pipeline_s_curve(x, inks->contrast);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *luma = NULL, *toned = NULL;
    Inks inks = {.contrast = values[CONTRAST].number};
    pipeline_colour(values[DARK].text, 1, inks.dark);
    pipeline_colour(values[LIGHT].text, 1, inks.light);
    return pipeline_luma(input, &luma) || pipeline_tone(luma, 3, tone, &inks, &toned)
        || pipeline_join(toned, input, output);
}

static const PipelineFilter duotone = {
    PIPELINE_FILTER_LAYOUT,
    .name = "duotone",
    .version = "1.0.0",
    .summary = "dark tones in one colour, light ones in another",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &duotone;
}
