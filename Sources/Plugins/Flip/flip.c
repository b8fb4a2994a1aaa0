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

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    int is_vertical = strcmp(values[DIRECTION].text, "vertical") == 0;
    return vips_flip(input, output, is_vertical ? VIPS_DIRECTION_VERTICAL : VIPS_DIRECTION_HORIZONTAL, NULL);
}

static const PipelineFilter flip = {
    PIPELINE_FILTER_LAYOUT,
    .name = "flip",
    .version = "1.0.0",
    .summary = "mirrors the picture",
    .traits = PIPELINE_WHOLE_PICTURE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &flip;
}
