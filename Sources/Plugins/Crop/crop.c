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
static int size(const PipelineHost *host, const PipelineValue *values, PipelineArrangement *to) {
    const char *ratio = values[RATIO].text;
    double across = values[WIDTH].number, down = values[HEIGHT].number;
    int end = 0;
    if (across > 0)
        to->width = (int)VIPS_MIN(across, to->width);
    if (down > 0)
        to->height = (int)VIPS_MIN(down, to->height);
    if (*ratio == 0)
        return 0;
    if (sscanf(ratio, "%lf:%lf%n", &across, &down, &end) != 2 || ratio[end] != 0 || !(across > 0 && down > 0)
        || !(across / down > 0.001 && across / down < 1000))
        return pipeline_refuse(host, "'%s' is no ratio; write it as 3:2", ratio);
    int most = to->width;
    to->width = VIPS_CLIP(1, (int)lround(to->height * across / down), most);
    to->height = VIPS_CLIP(1, (int)lround(most * down / across), to->height);
    return 0;
}

/* Describes the part to keep. Fails for `attention` and `entropy`, because libvips then chooses the part. */
static int arrange(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
    const char *position = values[POSITION].text;
    double x, y;
    pipeline_place(position, &x, &y);
    if (strcmp(position, "attention") == 0 || strcmp(position, "entropy") == 0 || size(host, values, to))
        return -1;
    to->left = (int)lround(x * (width - to->width));
    to->top = (int)lround(y * (height - to->height));
    return 0;
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    gboolean is_entropy = strcmp(values[POSITION].text, "entropy") == 0;
    if (!is_entropy && strcmp(values[POSITION].text, "attention") != 0)
        return pipeline_arranged(arrange, host, values, input, output);
    PipelineArrangement part = {.width = input->Xsize, .height = input->Ysize};
    VipsInteresting where = is_entropy ? VIPS_INTERESTING_ENTROPY : VIPS_INTERESTING_ATTENTION;
    return size(host, values, &part)
        || vips_smartcrop(input, output, part.width, part.height, "interesting", where, NULL);
}

static const char *const sizes[] = {"ratio", "width", "height", NULL};

static const PipelineFilter crop = {
    PIPELINE_FILTER_LAYOUT,
    .name = "crop",
    .version = "1.0.0",
    .summary = "a part of the picture: by shape or size, at a place or where the eye goes",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_WHOLE_PICTURE | PIPELINE_MOVES_PIXELS,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .at_least_one_of = sizes,
    .apply = apply,
    .arrange = arrange,
};

const PipelineFilter *pipeline_filter(void) {
    return &crop;
}
