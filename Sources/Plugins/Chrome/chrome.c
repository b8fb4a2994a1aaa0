/* chrome: slide film, with stronger colours and more contrast.
 *
 * Multiplies each colour's distance from luma by `saturation`. Then maps tones through noir's S-curve with `contrast`,
 * and keeps hues: a blue sky stays blue. */
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

typedef struct Film {
    float saturation;
    PipelineCurve curve;
} Film;

static double tone(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    return pipeline_s_curve(x, values[CONTRAST].number);
}

PIPELINE_VECTORS
static void develop(const void *context, PipelineRun *run) {
    const Film *film = context;
    pipeline_saturate(run, film->saturation);
    pipeline_map_hues(run, &film->curve);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    Film film = {.saturation = (float)values[SATURATION].number};
    pipeline_draw(&film.curve, 1, tone, values, 0);
    return pipeline_pixels(input, NULL, develop, &film, sizeof film, output);
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
