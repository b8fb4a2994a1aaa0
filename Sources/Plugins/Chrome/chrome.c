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

/* The S-curve at STEPS + 1 places from 0 to 1. Between them it is nearly straight. */
enum { STEPS = 1024 };

typedef struct Film {
    float saturation, curve[STEPS + 1];
} Film;

static void develop(const void *context, PipelineRun *run) {
    const Film *film = context;
    pipeline_saturate(run, film->saturation);
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++) {
            float x = run->samples[band][i], place = (x > 1 ? 1 : x > 0 ? x : 0) * (float)STEPS;
            int step = VIPS_MIN((int)place, STEPS - 1);
            run->samples[band][i] = film->curve[step] + (place - (float)step) * (film->curve[step + 1] - film->curve[step]);
        }
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    Film film = {.saturation = (float)values[SATURATION].number};
    for (int step = 0; step <= STEPS; step++)
        film.curve[step] = (float)pipeline_s_curve(step / (double)STEPS, values[CONTRAST].number);
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
