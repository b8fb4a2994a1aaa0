/* tilt-shift: a sharp band in a soft picture, which looks like a model landscape.
 *
 * Blends a blurred picture into the sharp one. Within the band only the sharp picture shows. Beyond the band the blur increases
 * in a smooth step, which is as wide as half the band, or a tenth of the picture's height if that is more. */
#include <pipeline_vips.h>

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

/* The weight of the blurred picture, from 0 to 1, at `x` below the top; the picture's height is 1. */
static double softness(const PipelineValue *values, double x) {
    double half = values[WIDTH].number / 2, ramp = fmax(half, 0.1);
    double t = VIPS_CLIP(0, (fabs(x - values[POSITION].number) - half) / ramp, 1);
    return t * t * (3 - 2 * t);
}

/* Makes the mask, by repeating one column. Where a whole area of the mask is 0 or 255, libvips computes only the picture that
 * shows there. */
static int mask(const PipelineValue *values, VipsImage *like, VipsImage **out) {
    PIPELINE_OWNED VipsImage *column = vips_image_new_matrix(1, like->Ysize), *samples = NULL;
    for (int y = 0; y < like->Ysize; y++)
        *VIPS_MATRIX(column, 0, y) = rint(UINT8_MAX * softness(values, (y + 0.5) / like->Ysize));
    return vips_cast(column, &samples, VIPS_FORMAT_UCHAR, NULL)
        || vips_embed(samples, out, 0, 0, like->Xsize, like->Ysize, "extend", VIPS_EXTEND_COPY, NULL);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *plain = NULL, *soft = NULL, *shown = NULL, *blend = NULL;
    double sigma = pipeline_length(values[BLUR].number, "%", input);
    return mask(values, input, &shown) || pipeline_premultiply(input, &plain) || pipeline_blur(plain, sigma, &soft)
        || vips_ifthenelse(shown, soft, plain, &blend, "blend", TRUE, NULL)
        || pipeline_unpremultiply(blend, input, output);
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
