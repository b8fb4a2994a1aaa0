/* vignette: darker corners, as from an old lens.
 *
 * The distance from the middle is 0 in the middle and 1 in the corners. Up to the distance `radius`, nothing changes.
 * Beyond that distance, the picture becomes darker in a smooth step. The corners lose the fraction `strength` of their
 * brightness. The bright area is an ellipse with the picture's proportions. */
#include <pipeline_vips.h>

enum { STRENGTH, RADIUS, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.3",
         .help = "how dark the corners are: 0 changes nothing, 1 makes them black"},
    [RADIUS] =
        {.name = "radius",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 0.95,
         .default_value = "0.1",
         .help = "where it begins, on the way from the middle (0) to the corners (1)"},
};

typedef struct Lens {
    float strength, radius, width, height;
} Lens;

PIPELINE_VECTORS
static void darken(const void *context, PipelineRun *run) {
    const Lens *lens = context;
    float down = (2 * (float)run->y + 1) / lens->height - 1, light[PIPELINE_RUN];
    float scale = 1 / (1 - lens->radius), step = 2 / lens->width, first = (2 * (float)run->x + 1) / lens->width - 1;
    for (int i = 0; i < run->count; i++) {
        float across = first + step * (float)i, distance = sqrtf((across * across + down * down) / 2);
        float t = (distance - lens->radius) * scale;
        t = t > 1 ? 1 : t > 0 ? t : 0;
        light[i] = 1 - lens->strength * t * t * (3 - 2 * t);
    }
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] *= light[i];
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    Lens lens = {
        (float)values[STRENGTH].number, (float)values[RADIUS].number, (float)input->Xsize, (float)input->Ysize};
    return pipeline_pixels(input, NULL, darken, &lens, sizeof lens, output);
}

static const PipelineFilter vignette = {
    PIPELINE_FILTER_LAYOUT,
    .name = "vignette",
    .version = "1.0.0",
    .summary = "darker corners",
    .traits = PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &vignette;
}
