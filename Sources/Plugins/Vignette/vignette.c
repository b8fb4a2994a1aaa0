/* vignette: darker corners, as from an old lens.
 *
 * The distance from the middle is 0 in the middle and 1 in the corners. Nothing changes up to the distance `radius`. Beyond it
 * the picture becomes darker in a smooth step, until the corners have lost the part `strength` of their brightness. The bright
 * area is an ellipse with the picture's proportions. */
#include <pipeline_vips.h>

enum { STRENGTH, RADIUS, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.5",
         .help = "how dark the corners are: 0 changes nothing, 1 makes them black"},
    [RADIUS] =
        {.name = "radius",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 0.95,
         .default_value = "0.3",
         .help = "where it begins, on the way from the middle (0) to the corners (1)"},
};

/* The factor for the brightness at `x`, the distance from the middle. */
static double light(const void *context, int band, double x) {
    (void)band;
    const PipelineValue *values = context;
    double t = VIPS_CLIP(0, (x - values[RADIUS].number) / (1 - values[RADIUS].number), 1);
    return 1 - values[STRENGTH].number * t * t * (3 - 2 * t);
}

/* Computes each pixel's distance from the middle: 0 in the middle, 65535 in the corners. */
static int distance(VipsImage *like, VipsImage **out) {
    double width = like->Xsize, height = like->Ysize;
    double scale[] = {2 / width, 2 / height}, offset[] = {1 / width - 1, 1 / height - 1};
    PIPELINE_OWNED VipsImage *place = NULL, *way = NULL, *square = NULL, *mean = NULL, *root = NULL, *index = NULL;
    return vips_xyz(&place, like->Xsize, like->Ysize, NULL) || vips_linear(place, &way, scale, offset, 2, NULL)
        || vips_multiply(way, way, &square, NULL) || vips_bandmean(square, &mean, NULL)
        || vips_math2_const1(mean, &root, VIPS_OPERATION_MATH2_POW, 0.5, NULL)
        || vips_linear1(root, &index, UINT16_MAX, 0.5, NULL) || vips_cast(index, out, VIPS_FORMAT_USHORT, NULL);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *away = NULL, *lit = NULL, *colours = NULL, *bright = NULL, *dark = NULL;
    return distance(input, &away) || pipeline_tone(away, 1, light, values, &lit) || pipeline_colours(input, &colours)
        || vips_multiply(colours, lit, &bright, NULL) || vips_linear1(bright, &dark, 1.0 / UINT16_MAX, 0, NULL)
        || pipeline_join(dark, input, output);
}

static const PipelineFilter vignette = {
    PIPELINE_FILTER_LAYOUT,
    .name = "vignette",
    .version = "1.0.0",
    .summary = "darker corners",
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &vignette;
}
