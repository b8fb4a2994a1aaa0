/* sharpen: an unsharp mask over luma.
 *
 * Computes the difference between luma and blurred luma, reduces it by `threshold`, and multiplies it by `amount`. Adds
 * the result to all bands alike, so that edges keep their colour. Transparent pixels have no weight in the blur. */
#include <pipeline_blur.h>

enum { AMOUNT, RADIUS, THRESHOLD, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [AMOUNT] =
        {.name = "amount",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 5,
         .default_value = "0.8",
         .help = "how much"},
    [RADIUS] =
        {.name = "radius",
         .type = PIPELINE_NUMBER,
         .minimum = 0.3,
         .maximum = 5,
         .default_value = "1",
         .unit = "px",
         .help = "how wide the lines are that become clearer: the Gaussian's sigma"},
    [THRESHOLD] =
        {.name = "threshold",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 50,
         .default_value = "1",
         .unit = "%",
         .help = "differences up to this are left alone, so that noise is not sharpened"},
};

typedef struct Mask {
    float amount, threshold, most;
} Mask;

PIPELINE_VECTORS
static void add_edges(const void *context, PipelineRun *run) {
    const Mask mask = *(const Mask *)context;
    float edges[PIPELINE_RUN];
    for (int i = 0; i < run->count; i++) {
        float alpha = run->has_alpha ? run->beside[1][i] : 1;
        edges[i] = alpha > 0 ? run->beside[0][i] / alpha : 0;
    }
    for (int i = 0; i < run->count; i++) {
        /* Rounds luma, because the blur was computed from rounded luma. */
        float luma = (float)(int)(pipeline_run_luma(run, i) * mask.most + 0.5f) / mask.most;
        float difference = luma - edges[i], rest = fabsf(difference) - mask.threshold;
        edges[i] = mask.amount * copysignf(rest > 0 ? rest : 0, difference);
    }
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] += edges[i];
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *around = NULL;
    Mask mask = {(float)values[AMOUNT].number, (float)values[THRESHOLD].number / 100, (float)pipeline_most(input)};
    return pipeline_blur(input, values[RADIUS].number, PIPELINE_LUMA, &around)
        || pipeline_pixels(input, around, add_edges, &mask, sizeof mask, output);
}

static const PipelineFilter sharpen = {
    PIPELINE_FILTER_LAYOUT,
    .name = "sharpen",
    .version = "1.0.0",
    .summary = "clearer edges",
    .traits = PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &sharpen;
}
