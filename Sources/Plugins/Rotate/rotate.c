/* rotate: one, two or three quarter turns. Only moves pixels, and never changes their values. */
#include <pipeline_vips.h>

enum { ANGLE, PARAMETER_COUNT };

static const char *const angles[] = {"90", "180", "270", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [ANGLE] =
        {.name = "angle",
         .type = PIPELINE_CHOICE,
         .default_value = "90",
         .choices = angles,
         .help = "how far it turns, clockwise, in degrees"},
};

static int arrange(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
    (void)host, (void)width, (void)height;
    to->quarters = (int)(strtol(values[ANGLE].text, NULL, 10) / 90);
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    return pipeline_arranged(arrange, host, values, input, output);
}

static const PipelineFilter rotate = {
    PIPELINE_FILTER_LAYOUT,
    .name = "rotate",
    .version = "1.0.0",
    .summary = "turns the picture by quarters",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_WHOLE_PICTURE | PIPELINE_MOVES_PIXELS,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
    .arrange = arrange,
};

const PipelineFilter *pipeline_filter(void) {
    return &rotate;
}
