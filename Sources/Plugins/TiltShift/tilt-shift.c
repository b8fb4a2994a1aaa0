/* tilt-shift: a sharp band in a soft picture, which looks like a model landscape.
 *
 * Blends a blurred picture into the sharp one. Within the band only the sharp picture shows. Beyond the band the blur increases
 * in a smooth step, which is as wide as half the band, or a tenth of the picture's height if that is more. */
#include <pipeline_blur.h>

enum { POSITION, WIDTH, BLUR, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [POSITION] =
        {.name = "position",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.5",
         .help = "where the middle of the band is: 0 is the top, 1 the bottom"},
    [WIDTH] =
        {.name = "width",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.25",
         .help = "how wide the band is that stays sharp, as a part of the height"},
    [BLUR] =
        {.name = "blur",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 20,
         .default_value = "1",
         .unit = "%",
         .help = "how soft the rest becomes: the Gaussian's sigma, in hundredths of the short side"},
};

typedef struct Band {
    double position, half, height;
} Band;

/* The weight of the blurred picture increases, from 0 in the band, in a smooth step. */
static void soften(const void *context, PipelineRun *run) {
    const Band *band = context;
    double away = fabs((run->y + 0.5) / band->height - band->position), ramp = fmax(band->half, 0.1);
    double t = VIPS_CLIP(0, (away - band->half) / ramp, 1);
    if (t > 0)
        pipeline_mix(run, (float)(t * t * (3 - 2 * t)));
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *soft = NULL;
    double sigma = pipeline_length(values[BLUR].number, "%", input);
    Band band = {values[POSITION].number, values[WIDTH].number / 2, input->Ysize};
    return pipeline_blur(input, sigma, FALSE, &soft) || pipeline_pixels(input, soft, soften, &band, sizeof band, output);
}

static const PipelineFilter tilt_shift = {
    PIPELINE_FILTER_LAYOUT,
    .name = "tilt-shift",
    .version = "1.0.0",
    .summary = "a sharp band in a soft picture, like a model landscape",
    .traits = PIPELINE_WHOLE_PICTURE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &tilt_shift;
}
