/* fade: a photograph that has hung in the sun.
 *
 * Reduces the distance of colours from luma. Then maps each band linearly, so that black becomes lighter and white
 * darker. */
#include <pipeline_vips.h>

enum { STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.5",
         .help = "how faded: 0 leaves the picture as it is"},
};

typedef struct Fading {
    float saturation, black, range;
} Fading;

PIPELINE_VECTORS
static void fade_pixels(const void *context, PipelineRun *run) {
    const Fading *fading = context;
    pipeline_saturate(run, fading->saturation);
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] = fading->black + fading->range * run->samples[band][i];
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    float strength = (float)values[STRENGTH].number;
    Fading fading = {1 - 0.35f * strength, 0.16f * strength, 1 - 0.21f * strength};
    return pipeline_pixels(input, NULL, fade_pixels, &fading, sizeof fading, output);
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
