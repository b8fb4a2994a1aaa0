/* watermark: a text or a picture, laid over a corner.
 *
 * `size` is the mark's width; the filter reduces the width if the picture has too little room. A text has a soft
 * shadow, so that it is readable on any picture: a light text has a dark shadow, and a dark text has a light shadow. A
 * grey picture stays grey if the mark is grey. Transparent pixels become as opaque as the mark above them. */
#include <pipeline_vips.h>

enum { TEXT, PICTURE, POSITION, OPACITY, SIZE, MARGIN, COLOUR, FONT, SHADOW, PARAMETER_COUNT };

static const char *const places[] = {PIPELINE_PLACES, NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [TEXT] =
        {.name = "text",
         .type = PIPELINE_TEXT,
         .default_value = "",
         .help = "what to write; or else give a picture"},
    [PICTURE] =
        {.name = "picture",
         .type = PIPELINE_TEXT,
         .default_value = "",
         .help = "the name of a file in the filter's folder, such as logo.png"},
    [POSITION] =
        {.name = "position",
         .type = PIPELINE_CHOICE,
         .default_value = "bottom-right",
         .choices = places,
         .help = "where it is"},
    [OPACITY] =
        {.name = "opacity",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.6",
         .help = "how opaque it is"},
    [SIZE] =
        {.name = "size",
         .type = PIPELINE_NUMBER,
         .minimum = 1,
         .maximum = 100,
         .default_value = "25",
         .unit = "%",
         .help = "how wide it is, in hundredths of the picture's width"},
    [MARGIN] =
        {.name = "margin",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 50,
         .default_value = "3",
         .unit = "%",
         .help = "how far from the edges, in hundredths of the short side"},
    [COLOUR] =
        {.name = "colour",
         .type = PIPELINE_COLOUR,
         .default_value = "#ffffff",
         .help = "the text's colour"},
    [FONT] =
        {.name = "font",
         .type = PIPELINE_TEXT,
         .default_value = "sans bold",
         .help = "the text's font, as Pango names it"},
    [SHADOW] =
        {.name = "shadow",
         .type = PIPELINE_BOOLEAN,
         .default_value = "yes",
         .help = "whether the text has a shadow"},
};

/* The mark: a picture of its colours, with one band or three, and a mask of their opacity, 0 to 255. */
typedef struct Mark {
    VipsImage *colours, *mask;
} Mark;

static void release(Mark *mark) {
    pipeline_release(&mark->colours);
    pipeline_release(&mark->mask);
}

/* Draws the text in the largest size that fits into this width and height. */
static int draw(const PipelineHost *host, const PipelineValue *values, int width, int height, VipsImage **out) {
    PIPELINE_OWNED VipsImage *measure = NULL;
    const char *text = values[TEXT].text, *font = values[FONT].text;
    if (pipeline_need_fonts(host, font) || pipeline_letters(text, font, 40, 0, &measure))
        return -1;
    double scale = VIPS_MIN((double)width / measure->Xsize, (double)height / measure->Ysize);
    return pipeline_letters(text, font, 40 * scale, 0, out);
}

static int write_text(const PipelineHost *host, const PipelineValue *values, int width, int height, Mark *mark) {
    double rgb[3];
    if (draw(host, values, width, height, &mark->mask))
        return -1;
    pipeline_colour(values[COLOUR].text, UINT8_MAX, rgb);
    mark->colours = vips_image_new_from_image(mark->mask, rgb, rgb[0] == rgb[1] && rgb[1] == rgb[2] ? 1 : 3);
    return mark->colours == NULL;
}

static int read_picture(const PipelineHost *host, const PipelineValue *values, int width, int height, Mark *mark) {
    const char *name = values[PICTURE].text;
    if (host->resources == NULL)
        return pipeline_refuse(
            host, "there is no folder to find '%s' in; make %s, put it there, then `pipectl reload`", name,
            host->own_folder);
    if (strchr(name, '/'))
        return pipeline_refuse(host, "'%s' is no name of a file in %s; write it without a folder", name, host->resources);
    char *path = g_build_filename(host->resources, name, NULL);
    gboolean is_there = g_file_test(path, G_FILE_TEST_EXISTS);
    PIPELINE_OWNED VipsImage *small = NULL, *samples = NULL, *whole = NULL, *memory = NULL;
    int failed = is_there && vips_thumbnail(path, &small, width, "height", height, NULL);
    g_free(path);
    if (!is_there)
        return pipeline_refuse(host, "there is no picture '%s' in %s; put it there", name, host->resources);
    return failed || vips_cast(small, &samples, VIPS_FORMAT_UCHAR, "shift", TRUE, NULL)
        || (vips_image_hasalpha(samples) ? vips_copy(samples, &whole, NULL) : vips_addalpha(samples, &whole, NULL))
        || !(memory = vips_image_copy_memory(whole)) || pipeline_colours(memory, &mark->colours)
        || vips_extract_band(memory, &mark->mask, memory->Bands - 1, NULL);
}

/* Makes the text's shadow, which is wider and softer than the text, and lies slightly to the right and below. *reach is
 * the number of pixels by which the shadow's picture extends beyond the text on each side. */
static int cast_shadow(const Mark *text, int *reach, Mark *shadow) {
    int size = VIPS_MAX(1, text->mask->Ysize / 20);
    double bright = 0;
    *reach = 3 * size;
    PIPELINE_OWNED VipsImage *around = NULL;
    if (vips_embed(
            text->mask, &around, *reach + size, *reach + size, text->mask->Xsize + 2 * *reach,
            text->mask->Ysize + 2 * *reach, NULL)
        || vips_gaussblur(around, &shadow->mask, size, NULL) || vips_avg(text->colours, &bright, NULL))
        return -1;
    shadow->colours = vips_image_new_from_image1(shadow->mask, bright < 128 ? UINT8_MAX : 0);
    return shadow->colours == NULL;
}

/* Lays a mark over a sheet, `inset` pixels from its edges. */
static int lay(VipsImage *sheet, const Mark *mark, double opacity, int inset, VipsImage **out) {
    PIPELINE_OWNED VipsImage *bands = NULL, *opaque = NULL, *over = NULL, *mask = NULL, *shown = NULL;
    VipsImage *thrice[] = {mark->colours, mark->colours, mark->colours};
    return vips_bandjoin(thrice, &bands, mark->colours->Bands < sheet->Bands - 1 ? 3 : 1, NULL)
        || vips_bandjoin_const1(bands, &opaque, UINT8_MAX, NULL)
        || vips_embed(opaque, &over, inset, inset, sheet->Xsize, sheet->Ysize, NULL)
        || vips_linear1(mark->mask, &mask, opacity, 0, "uchar", TRUE, NULL)
        || vips_embed(mask, &shown, inset, inset, sheet->Xsize, sheet->Ysize, NULL)
        || vips_ifthenelse(shown, over, sheet, out, "blend", TRUE, NULL);
}

/* Paints the mark, and its shadow if the mark is a text with a shadow, onto a transparent sheet in memory. The sheet's
 * colours are weighted by alpha, and its last band is alpha. *reach is the number of pixels by which the sheet extends
 * beyond the mark on each side. */
static int paint(
    const PipelineHost *host, const PipelineValue *values, int width, int height, int *reach, VipsImage **out) {
    Mark mark = {NULL, NULL}, shadow = {NULL, NULL};
    PIPELINE_OWNED VipsImage *clear = NULL, *shaded = NULL, *marked = NULL;
    double opacity = values[OPACITY].number;
    gboolean is_text = *values[TEXT].text != 0;
    *reach = 0;
    int failed = (is_text ? write_text : read_picture)(host, values, width, height, &mark)
        || (is_text && values[SHADOW].number != 0 && cast_shadow(&mark, reach, &shadow))
        || vips_black(
            &clear, mark.mask->Xsize + 2 * *reach, mark.mask->Ysize + 2 * *reach, "bands", mark.colours->Bands + 1, NULL)
        || (shadow.mask && lay(clear, &shadow, 0.8 * opacity, 0, &shaded))
        || lay(shaded ? shaded : clear, &mark, opacity, *reach, &marked) || !(*out = vips_image_copy_memory(marked));
    release(&mark);
    release(&shadow);
    return failed;
}

/* The latest sheet with a text. Pictures of the same size and chain share it. */
static struct {
    GMutex lock;
    VipsImage *sheet;
    char *values;
    int reach;
} latest;

/* Like `paint`, but paints the same text only once. Always paints a mark that is a picture, because its file may
 * change. */
static int shared_sheet(
    const PipelineHost *host, const PipelineValue *values, int width, int height, int *reach, VipsImage **out) {
    if (*values[TEXT].text == 0)
        return paint(host, values, width, height, reach, out);
    int failed = 0;
    char *used = g_strdup_printf(
        "%d %d %g %g %s %s\n%s", width, height, values[OPACITY].number, values[SHADOW].number, values[COLOUR].text,
        values[FONT].text, values[TEXT].text);
    g_mutex_lock(&latest.lock);
    if (!latest.sheet || strcmp(latest.values, used) != 0) {
        g_clear_object(&latest.sheet);
        failed = paint(host, values, width, height, &latest.reach, &latest.sheet);
        g_free(latest.values);
        latest.values = g_steal_pointer(&used);
    }
    if (!failed)
        *out = g_object_ref(latest.sheet);
    *reach = latest.reach;
    g_mutex_unlock(&latest.lock);
    g_free(used);
    return failed;
}

typedef struct Place {
    VipsImage *sheet;
    int left, top;
} Place;

static void lay_over(const void *context, PipelineRun *run) {
    const Place *place = context;
    VipsImage *sheet = place->sheet;
    int y = run->y - place->top, opacity = sheet->Bands - 1;
    int first = VIPS_MAX(run->x, place->left), end = VIPS_MIN(run->x + run->count, place->left + sheet->Xsize);
    if (y < 0 || y >= sheet->Ysize || first >= end)
        return;
    const VipsPel *over = VIPS_IMAGE_ADDR(sheet, first - place->left, y);
    for (int i = first - run->x; i < end - run->x; i++, over += sheet->Bands) {
        float alpha = run->has_alpha ? run->samples[run->bands][i] : 1;
        float added = (float)over[opacity] / UINT8_MAX, rest = (1 - added) * alpha, after = added + rest;
        for (int band = 0; band < run->bands; band++) {
            float weighed = (float)over[VIPS_MIN(band, opacity - 1)] / UINT8_MAX + rest * run->samples[band][i];
            run->samples[band][i] = after > 0 ? weighed / after : 0;
        }
        if (run->has_alpha)
            run->samples[run->bands][i] = after;
    }
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    int margin = (int)lround(pipeline_length(values[MARGIN].number, "%", input)), reach = 0;
    int across = VIPS_MAX(1, input->Xsize - 2 * margin), down = VIPS_MAX(1, input->Ysize - 2 * margin);
    int width = VIPS_CLIP(1, (int)lround(values[SIZE].number / 100 * input->Xsize), across);
    PIPELINE_OWNED VipsImage *sheet = NULL, *picture = NULL;
    if (shared_sheet(host, values, width, down, &reach, &sheet))
        return -1;
    double x, y;
    pipeline_place(values[POSITION].text, &x, &y);
    Place place = {
        sheet, margin + (int)lround(x * (across - sheet->Xsize + 2 * reach)) - reach,
        margin + (int)lround(y * (down - sheet->Ysize + 2 * reach)) - reach};
    if ((sheet->Bands == 4 ? pipeline_rgb(input, &picture) : vips_copy(input, &picture, NULL))
        || pipeline_pixels(picture, NULL, lay_over, &place, sizeof place, output))
        return -1;
    /* Keeps the sheet until the result is closed. */
    vips_object_local(*output, g_steal_pointer(&sheet));
    return 0;
}

static const char *const marks[] = {"text", "picture", NULL};

static const PipelineFilter watermark = {
    PIPELINE_FILTER_LAYOUT,
    .name = "watermark",
    .version = "1.0.0",
    .summary = "a text or a picture in a corner",
    .traits = PIPELINE_DRAWS_TEXT | PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .at_least_one_of = marks,
    .at_most_one_of = marks,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &watermark;
}
