/* border: a frame of one colour around the picture.
 *
 * The frame is opaque. A grey picture stays grey if the frame's colour is grey. */
#include <pipeline_vips.h>

enum { WIDTH, UNIT, COLOUR, PARAMETER_COUNT };

static const char *const units[] = {"%", "px", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [WIDTH] =
        {.name = "width",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 10000,
         .default_value = "3",
         .help = "how wide it is on each side"},
    [UNIT] =
        {.name = "unit",
         .type = PIPELINE_CHOICE,
         .default_value = "%",
         .choices = units,
         .help = "what the width is counted in: hundredths of the short side, or pixels"},
    [COLOUR] =
        {.name = "colour",
         .type = PIPELINE_COLOUR,
         .default_value = "#ffffff",
         .help = "its colour"},
};

static int arrange(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
    double side = pipeline_length_of(values[WIDTH].number, values[UNIT].text, width, height);
    return pipeline_border(host, side, values[COLOUR].text, to);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    return pipeline_arranged(arrange, host, values, input, output);
}

static const PipelineFilter border = {
    PIPELINE_FILTER_LAYOUT,
    .name = "border",
    .version = "1.0.0",
    .summary = "a frame around the picture",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_MOVES_PIXELS,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
    .arrange = arrange,
};

const PipelineFilter *pipeline_filter(void) {
    return &border;
}
