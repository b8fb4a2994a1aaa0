/* flip: a mirror image. Only moves pixels, and never changes their values. */
#include <pipeline_vips.h>

enum { DIRECTION, PARAMETER_COUNT };

static const char *const directions[] = {"horizontal", "vertical", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [DIRECTION] =
        {.name = "direction",
         .type = PIPELINE_CHOICE,
         .default_value = "horizontal",
         .choices = directions,
         .help = "horizontal: left becomes right; vertical: top becomes bottom"},
};

static int arrange(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
    (void)host, (void)width, (void)height;
    to->is_mirrored = 1;
    to->quarters = strcmp(values[DIRECTION].text, "vertical") == 0 ? 2 : 0;
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    return pipeline_arranged(arrange, host, values, input, output);
}

static const PipelineFilter flip = {
    PIPELINE_FILTER_LAYOUT,
    .name = "flip",
    .version = "1.0.0",
    .summary = "mirrors the picture",
    .traits = PIPELINE_WHOLE_PICTURE | PIPELINE_MOVES_PIXELS,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
    .arrange = arrange,
};

const PipelineFilter *pipeline_filter(void) {
    return &flip;
}
