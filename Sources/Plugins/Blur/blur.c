/* blur: a picture out of focus.
 *
 * A Gaussian blur that weights colours by alpha. A radius in `%` has the same effect at any picture size. */
#include <pipeline_blur.h>

enum { RADIUS, UNIT, PARAMETER_COUNT };

static const char *const units[] = {"%", "px", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [RADIUS] =
        {.name = "radius",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 100,
         .default_value = "1",
         .help = "the Gaussian's sigma"},
    [UNIT] =
        {.name = "unit",
         .type = PIPELINE_CHOICE,
         .default_value = "%",
         .choices = units,
         .help = "what the radius is counted in: hundredths of the short side, or pixels"},
};

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    PIPELINE_OWNED VipsImage *soft = NULL;
    double sigma = pipeline_length(values[RADIUS].number, values[UNIT].text, input);
    return pipeline_blur(input, sigma, PIPELINE_COLOURS, &soft) || pipeline_blurred(soft, input, output);
}

static const PipelineFilter blur = {
    PIPELINE_FILTER_LAYOUT,
    .name = "blur",
    .version = "1.0.0",
    .summary = "out of focus",
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &blur;
}
