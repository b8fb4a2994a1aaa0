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

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    int width = (int)lround(pipeline_length(values[WIDTH].number, values[UNIT].text, input));
    if (width > VIPS_MAX_COORD / 4)
        return pipeline_refuse(host, "a border of %d pixels is too wide; write a smaller width", width);
    double colour[4];
    pipeline_colour(values[COLOUR].text, pipeline_most(input), colour);
    colour[3] = pipeline_most(input);
    gboolean stays_grey = pipeline_colour_bands(input) == 1 && colour[0] == colour[1] && colour[1] == colour[2];
    PIPELINE_OWNED VipsImage *picture = NULL;
    if (stays_grey ? vips_copy(input, &picture, NULL) : pipeline_rgb(input, &picture))
        return -1;
    VipsArrayDouble *background = vips_array_double_new(colour + (stays_grey ? 2 : 0), picture->Bands);
    int failed = vips_embed(
        picture, output, width, width, picture->Xsize + 2 * width, picture->Ysize + 2 * width, "extend",
        VIPS_EXTEND_BACKGROUND, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return failed;
}

static const PipelineFilter border = {
    PIPELINE_FILTER_LAYOUT,
    .name = "border",
    .version = "1.0.0",
    .summary = "a frame around the picture",
    .traits = PIPELINE_CHANGES_SIZE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &border;
}
