/* tilt-shift: a sharp band in a soft picture, which looks like a model landscape.
 *
 * Within the band, only the sharp picture shows. Beyond the band, the blur becomes wider in a smooth step. The step is
 * as wide as half the band, but at least a tenth of the picture's height. In the first half of the step, a narrow blur
 * replaces the sharp picture, and in the second half, the wide blur replaces the narrow blur. So no soft shadow
 * surrounds sharp edges. The filter blurs the squares of the samples, which are nearly proportional to light, so that
 * bright places shine over dark places. */
#include <pipeline_blur.h>

enum { POSITION, WIDTH, BLUR, ANGLE, PARAMETER_COUNT };

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
    [ANGLE] =
        {.name = "angle",
         .type = PIPELINE_NUMBER,
         .minimum = -90,
         .maximum = 90,
         .default_value = "0",
         .unit = "degrees",
         .help = "how far the band is turned, clockwise, around its middle"},
};

/* The band, in pixels of the full-size picture or of the shrunk picture. */
typedef struct Band {
    float middle, top, half, ramp, across, down;
} Band;

static Band band_of(const PipelineValue *values, double width, double height) {
    double radians = values[ANGLE].number * acos(-1) / 180, half = values[WIDTH].number / 2;
    return (Band){
        (float)(width / 2), (float)(values[POSITION].number * height), (float)(half * height),
        (float)(fmax(half, 0.1) * height), (float)cos(radians), (float)sin(radians)};
}

/* The progress of the step at a pixel: 0 within the band, 1 beyond the step. */
static inline __attribute__((always_inline)) float step_at(const Band *band, int x, int y) {
    float right = (float)x + 0.5f - band->middle, below = (float)y + 0.5f - band->top;
    float t = (fabsf(band->across * below - band->down * right) - band->half) / band->ramp;
    t = t > 1 ? 1 : t > 0 ? t : 0;
    return t * t * (3 - 2 * t);
}

/* Mixes two blurred pictures, which arrive as one picture: the bands of the narrow blur, then the bands of the wide
 * blur. In the second half of the step, the wide blur replaces the narrow blur. */
PIPELINE_VECTORS
static int widen(VipsRegion *region, void *sequence, void *image, void *memory, gboolean *stop) {
    (void)image;
    (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    const Band *band = (const Band *)memory;
    const VipsRect *area = &region->valid;
    int bands = region->im->Bands;
    if (vips_region_prepare(from, area))
        return -1;
    for (int y = area->top; y < area->top + area->height; y++) {
        const float *narrow = (const float *)VIPS_REGION_ADDR(from, area->left, y), *wide = narrow + bands;
        float *mixed = (float *)VIPS_REGION_ADDR(region, area->left, y);
        for (int x = 0; x < area->width; x++, mixed += bands, narrow += 2 * bands, wide += 2 * bands) {
            float part = 2 * step_at(band, area->left + x, y) - 1;
            for (int i = 0; i < bands; i++)
                mixed[i] = part > 0 ? narrow[i] + part * (wide[i] - narrow[i]) : narrow[i];
        }
    }
    return 0;
}

/* In the first half of the step, the blurred picture replaces the sharp picture. */
PIPELINE_VECTORS
static void soften(const void *context, PipelineRun *run) {
    const Band *band = context;
    float parts[PIPELINE_RUN], most = 0, least = 1;
    for (int i = 0; i < run->count; i++) {
        float part = 2 * step_at(band, run->x + i, run->y);
        parts[i] = part < 1 ? part : 1;
        most = most > part ? most : part;
        least = least < part ? least : part;
    }
    if (most == 0)
        return;
    if (least == 1 && !run->has_alpha) {
        memcpy(run->samples, run->beside, sizeof run->samples);
    } else {
        pipeline_square(run);
        pipeline_mix(run, parts);
    }
    for (int i = 0; i < run->bands; i++)
        for (int k = 0; k < run->count; k++)
            run->samples[i][k] = sqrtf(run->samples[i][k]);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *weighed = NULL, *narrow = NULL, *wide = NULL, *both = NULL, *mixed = NULL, *soft = NULL;
    double sigma = pipeline_length(values[BLUR].number, "%", input);
    /* Shrinks the picture more than for a single blur, because the filter blurs it twice. */
    int shrink = pipeline_shrink(1.25 * sigma);
    Band band = band_of(values, input->Xsize, input->Ysize);
    if (pipeline_weighed(input, shrink, PIPELINE_LIGHT, &weighed)
        || pipeline_soften(weighed, shrink, sigma / 3, &narrow) || pipeline_soften(weighed, shrink, sigma, &wide)
        || vips_bandjoin2(narrow, wide, &both, NULL))
        return -1;
    Band *small = g_new(Band, 1);
    *small = band_of(values, (double)input->Xsize / shrink, (double)input->Ysize / shrink);
    return pipeline_made(both, weighed->Xsize, weighed->Ysize, weighed->Bands, widen, small, &mixed)
        || pipeline_enlarged(mixed, shrink, input, &soft)
        || pipeline_pixels(input, soft, soften, &band, sizeof band, output);
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
