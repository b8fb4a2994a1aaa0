/* tone: exposure, contrast, colour and white balance.
 *
 * Exposure and white balance multiply linear light, not the gamma-encoded values: one stop more doubles the light.
 * Saturation and vibrance multiply each colour's distance from luma. The other parameters together form one curve,
 * which keeps hues. `contrast` mixes in noir's S-curve. `shadows` and `highlights` move the dark and the bright tones,
 * but not black and white. Negative `highlights` also bring back tones that exposure has moved beyond white. If every
 * parameter has its default value, the filter changes no byte. */
#include <pipeline_vips.h>

enum {
    EXPOSURE, CONTRAST, HIGHLIGHTS, SHADOWS, SATURATION, VIBRANCE, TEMPERATURE, TINT, PARAMETER_COUNT
};

#define NUMBER(word, least, most, neutral, words) \
    {.name = word, .type = PIPELINE_NUMBER, .minimum = least, .maximum = most, .default_value = neutral, .help = words}

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [EXPOSURE] =
        {.name = "exposure",
         .type = PIPELINE_NUMBER,
         .minimum = -5,
         .maximum = 5,
         .default_value = "0",
         .unit = "stops",
         .help = "more or less light: 1 doubles it, -1 halves it"},
    [CONTRAST] = NUMBER("contrast", -1, 1, "0", "how steep the middle tones are: 1 is noir's S-curve, below 0 is flatter"),
    [HIGHLIGHTS] = NUMBER("highlights", -1, 1, "0", "brighter or darker bright tones; white stays white"),
    [SHADOWS] = NUMBER("shadows", -1, 1, "0", "brighter or darker dark tones; black stays black"),
    [SATURATION] = NUMBER("saturation", 0, 3, "1", "how far colours are from grey: 0 is grey, 1 leaves them as they are"),
    [VIBRANCE] = NUMBER("vibrance", -1, 1, "0", "stronger or paler colours, the more the paler they are"),
    [TEMPERATURE] = NUMBER("temperature", -1, 1, "0", "warmer (above 0) or colder light"),
    [TINT] = NUMBER("tint", -1, 1, "0", "more magenta (above 0) or more green"),
};

typedef struct Editing {
    float saturation, vibrance;
    PipelineCurve light[3], tones;
} Editing;

/* The context of `multiply` and `curve`. `white` is the largest value to which `gains` raise white in any band, but at
 * least 1. */
typedef struct Light {
    const PipelineValue *values;
    double gains[3], white;
} Light;

static double multiply(const void *context, int band, double x) {
    const Light *light = context;
    double linear = light->gains[band] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static double curve(const void *context, int band, double x) {
    (void)band;
    const Light *light = context;
    double highlights = light->values[HIGHLIGHTS].number, white = light->white;
    /* Reinhard's curve, which maps the brightest tone to white. It changes nothing if the brightest tone is white
     * already. */
    x += VIPS_MAX(0, -highlights) * (x * (1 + x / (white * white)) / (1 + x) - x);
    x = VIPS_MIN(x, 1);
    x += light->values[SHADOWS].number * x * pow(1 - x, 3) + highlights * (1 - x) * pow(x, 3);
    return x + light->values[CONTRAST].number * (pipeline_s_curve(x, 1) - x);
}

PIPELINE_VECTORS
static void edit(const void *context, PipelineRun *run) {
    const Editing *editing = context;
    for (int band = 0; band < run->bands; band++)
        pipeline_map(&editing->light[band], run->samples[band], run->count, run->samples[band]);
    for (int i = 0; i < run->count && run->bands == 3; i++) {
        float red = run->samples[0][i], green = run->samples[1][i], blue = run->samples[2][i];
        float less = red < green ? red : green, more = red < green ? green : red;
        less = less < blue ? less : blue;
        more = more > blue ? more : blue;
        float paleness = more > 0 ? less / more : 1, luma = pipeline_run_luma(run, i);
        float factor = editing->saturation * (1 + editing->vibrance * paleness);
        run->samples[0][i] = luma + factor * (red - luma);
        run->samples[1][i] = luma + factor * (green - luma);
        run->samples[2][i] = luma + factor * (blue - luma);
    }
    pipeline_map_hues(run, &editing->tones);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    gboolean is_neutral = TRUE;
    for (int i = 0; i < PARAMETER_COUNT; i++)
        is_neutral = is_neutral && values[i].number == (i == SATURATION ? 1 : 0);
    if (is_neutral)
        return vips_copy(input, output, NULL);
    double warmth = values[TEMPERATURE].number / 2, green = exp2(-values[TINT].number / 4);
    Light light = {values, {1, 1, 1}, 1};
    if (pipeline_colour_bands(input) == 3) {
        /* Divides the gains by the luminance that they would give white, so that white keeps its luminance. */
        double red = exp2(warmth), blue = exp2(-warmth), luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        light.gains[0] = red / luminance;
        light.gains[1] = green / luminance;
        light.gains[2] = blue / luminance;
    }
    Editing editing = {.saturation = (float)values[SATURATION].number, .vibrance = (float)values[VIBRANCE].number};
    for (int band = 0; band < 3; band++) {
        light.gains[band] *= exp2(values[EXPOSURE].number);
        light.white = fmax(light.white, multiply(&light, band, 1));
        pipeline_draw(&editing.light[band], 1, multiply, &light, band);
    }
    pipeline_draw(&editing.tones, light.white, curve, &light, 0);
    return pipeline_pixels(input, NULL, edit, &editing, sizeof editing, output);
}

static const PipelineFilter tone = {
    PIPELINE_FILTER_LAYOUT,
    .name = "tone",
    .version = "1.0.0",
    .summary = "exposure, contrast, colour and white balance",
    .traits = PIPELINE_POINTWISE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &tone;
}
