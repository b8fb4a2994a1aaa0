/* crop: a part of the picture.
 *
 * The part is as large as `width`, `height` and the aspect ratio `ratio` allow, and `position` places it. The positions
 * `attention` and `entropy` use libvips' smartcrop, which finds the part that attracts the eye or has most detail. */
#include <pipeline_vips.h>

enum { RATIO, WIDTH, HEIGHT, POSITION, PARAMETER_COUNT };

static const char *const positions[] = {"attention", "entropy", PIPELINE_PLACES, NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [RATIO] =
        {.name = "ratio",
         .type = PIPELINE_TEXT,
         .default_value = "",
         .help = "the shape, as 3:2; without it, what width and height leave"},
    [WIDTH] =
        {.name = "width",
         .type = PIPELINE_INTEGER,
         .minimum = 0,
         .maximum = 10000000,
         .default_value = "0",
         .unit = "px",
         .help = "how wide at most; 0 is as wide as the picture"},
    [HEIGHT] =
        {.name = "height",
         .type = PIPELINE_INTEGER,
         .minimum = 0,
         .maximum = 10000000,
         .default_value = "0",
         .unit = "px",
         .help = "how high at most; 0 is as high as the picture"},
    [POSITION] =
        {.name = "position",
         .type = PIPELINE_CHOICE,
         .default_value = "centre",
         .choices = positions,
         .help = "the part that stays: where the eye goes first, where most is to see, the middle, a side or a corner"},
};

/* Computes the size of the part to keep. */
static int size(const PipelineHost *host, const PipelineValue *values, VipsImage *input, int *width, int *height) {
    const char *ratio = values[RATIO].text;
    double across = values[WIDTH].number, down = values[HEIGHT].number;
    int end = 0;
    *width = across > 0 ? (int)VIPS_MIN(across, input->Xsize) : input->Xsize;
    *height = down > 0 ? (int)VIPS_MIN(down, input->Ysize) : input->Ysize;
    if (*ratio == 0)
        return 0;
    if (sscanf(ratio, "%lf:%lf%n", &across, &down, &end) != 2 || ratio[end] != 0 || !(across > 0 && down > 0)
        || !(across / down > 0.001 && across / down < 1000))
        return pipeline_refuse(host, "'%s' is no ratio; write it as 3:2", ratio);
    int most = *width;
    *width = VIPS_CLIP(1, (int)lround(*height * across / down), most);
    *height = VIPS_CLIP(1, (int)lround(most * down / across), *height);
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    const char *position = values[POSITION].text;
    int width, height;
    if (size(host, values, input, &width, &height))
        return -1;
    if (strcmp(position, "attention") == 0)
        return vips_smartcrop(input, output, width, height, "interesting", VIPS_INTERESTING_ATTENTION, NULL);
    if (strcmp(position, "entropy") == 0)
        return vips_smartcrop(input, output, width, height, "interesting", VIPS_INTERESTING_ENTROPY, NULL);
    double x, y;
    pipeline_place(position, &x, &y);
    int left = (int)lround(x * (input->Xsize - width)), top = (int)lround(y * (input->Ysize - height));
    return vips_crop(input, output, left, top, width, height, NULL);
}

static const char *const sizes[] = {"ratio", "width", "height", NULL};

static const PipelineFilter crop = {
    PIPELINE_FILTER_LAYOUT,
    .name = "crop",
    .version = "1.0.0",
    .summary = "a part of the picture: by shape or size, at a place or where the eye goes",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_WHOLE_PICTURE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .at_least_one_of = sizes,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &crop;
}
