/* frame: a border with the picture's caption and credit below the picture.
 *
 * Both texts stand in the strip below the picture: the caption at the left, the credit at the right. The filter breaks
 * a long text into lines, and reduces the size of the letters until the text fits. Without texts, the border has the
 * same width on all sides. */
#include <pipeline_vips.h>

enum { WIDTH, UNIT, STRIP, COLOUR, CAPTION, CREDIT, TEXT_COLOUR, FONT, PARAMETER_COUNT };

static const char *const units[] = {"%", "px", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [WIDTH] =
        {.name = "width",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 10000,
         .default_value = "4",
         .help = "how wide it is at the left, at the right and above"},
    [UNIT] =
        {.name = "unit",
         .type = PIPELINE_CHOICE,
         .default_value = "%",
         .choices = units,
         .help = "what width and strip are counted in: hundredths of the short side, or pixels"},
    [STRIP] =
        {.name = "strip",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 10000,
         .default_value = "12",
         .help = "how high the strip below the picture is, if there is a text"},
    [COLOUR] =
        {.name = "colour",
         .type = PIPELINE_COLOUR,
         .default_value = "#ffffff",
         .help = "its colour"},
    [CAPTION] =
        {.name = "caption",
         .type = PIPELINE_TEXT,
         .default_value = "{caption}",
         .help = "the text at the left; {caption} and {credit} are the picture's own"},
    [CREDIT] =
        {.name = "credit",
         .type = PIPELINE_TEXT,
         .default_value = "{credit}",
         .help = "the text at the right, likewise"},
    [TEXT_COLOUR] =
        {.name = "text-colour",
         .type = PIPELINE_COLOUR,
         .default_value = "#404040",
         .help = "the texts' colour"},
    [FONT] =
        {.name = "font",
         .type = PIPELINE_TEXT,
         .default_value = "sans",
         .help = "the texts' font, as Pango names it"},
};

/* Returns a copy of `text` with the picture's caption and credit in place of {caption} and {credit}. */
static char *filled(const PipelineHost *host, const char *text) {
    GString *result = g_string_new(text);
    g_string_replace(result, "{caption}", pipeline_text(host, PIPELINE_CAPTION), 1);
    g_string_replace(result, "{credit}", pipeline_text(host, PIPELINE_CREDIT), 1);
    return g_strstrip(g_string_free(result, FALSE));
}

/* Draws a text in the largest letters that fit into this width and height. If the smallest letters are too large, cuts
 * off the rest of the text. */
static int draw(const char *text, const char *font, int width, int height, VipsImage **out) {
    PIPELINE_OWNED VipsImage *letters = NULL;
    for (double points = height / 2.5;; points *= 0.9) {
        g_clear_object(&letters);
        if (pipeline_letters(text, font, points, width, &letters))
            return -1;
        if ((letters->Xsize <= width && letters->Ysize <= height) || points <= 4)
            return vips_crop(
                letters, out, 0, 0, VIPS_MIN(letters->Xsize, width), VIPS_MIN(letters->Ysize, height), NULL);
    }
}

/* Makes the mask of a strip with one text. The text takes at most the fraction `share` of the width between the left
 * and the right border. */
static int write_text(
    const PipelineValue *values, const char *text, double share, gboolean is_right, const VipsRect *room, VipsImage **out) {
    PIPELINE_OWNED VipsImage *letters = NULL;
    int across = VIPS_MAX(1, room->width - 2 * room->left), down = VIPS_MAX(1, room->height - 2 * room->top);
    if (*text == 0)
        return vips_black(out, room->width, room->height, NULL);
    if (draw(text, values[FONT].text, VIPS_MAX(1, (int)(share * across)), down, &letters))
        return -1;
    int left = room->left + (is_right ? across - letters->Xsize : 0), top = (room->height - letters->Ysize) / 2;
    return vips_embed(letters, out, left, top, room->width, room->height, NULL);
}

/* Makes the strip with both texts. The strip has the bands and the sample format of `like`. */
static int write_strip(
    const PipelineValue *values, const char *caption, const char *credit, const VipsRect *room, VipsImage *like,
    VipsImage **out) {
    PIPELINE_OWNED VipsImage *left = NULL, *right = NULL, *mask = NULL, *mixed = NULL, *whole = NULL, *bands = NULL;
    double paper[3], ink[3], most = pipeline_most(like);
    pipeline_colour(values[COLOUR].text, most, paper);
    pipeline_colour(values[TEXT_COLOUR].text, most, ink);
    for (int band = 0; band < 3; band++)
        ink[band] = (ink[band] - paper[band]) / 255;
    return write_text(values, caption, *credit ? 0.6 : 1, FALSE, room, &left)
        || write_text(values, credit, *caption ? 0.36 : 1, TRUE, room, &right) || vips_add(left, right, &mask, NULL)
        || vips_linear(mask, &mixed, ink, paper, pipeline_colour_bands(like), NULL) || vips_rint(mixed, &whole, NULL)
        || (vips_image_hasalpha(like) ? vips_bandjoin_const1(whole, &bands, most, NULL) : vips_copy(whole, &bands, NULL))
        || vips_cast(bands, out, like->BandFmt, NULL);
}

static int arrange(
    const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
    double side = pipeline_length_of(values[WIDTH].number, values[UNIT].text, width, height);
    return pipeline_border(host, side, values[COLOUR].text, to);
}

static int frame_with(
    const PipelineHost *host, const PipelineValue *values, const char *caption, const char *credit, VipsImage *input,
    VipsImage **output) {
    PIPELINE_OWNED VipsImage *picture = NULL, *framed = NULL, *strip = NULL, *upper = NULL;
    double ink[3];
    pipeline_colour(values[TEXT_COLOUR].text, UINT8_MAX, ink);
    gboolean has_text = *caption || *credit, is_grey = ink[0] == ink[1] && ink[1] == ink[2];
    int height = (int)lround(pipeline_length(values[STRIP].number, values[UNIT].text, input));
    if (!has_text || height == 0)
        return pipeline_arranged(arrange, host, values, input, output);
    if (height > VIPS_MAX_COORD / 4)
        return pipeline_refuse(host, "a strip of %d pixels is too high; write a smaller strip", height);
    if (pipeline_need_fonts(host, values[FONT].text)
        || (is_grey ? vips_copy(input, &picture, NULL) : pipeline_rgb(input, &picture))
        || pipeline_arranged(arrange, host, values, picture, &framed))
        return -1;
    int side = (framed->Xsize - input->Xsize) / 2;
    VipsRect room = {side, height / 6, framed->Xsize, height};
    return write_strip(values, caption, credit, &room, framed, &strip)
        || vips_crop(framed, &upper, 0, 0, framed->Xsize, framed->Ysize - side, NULL)
        || vips_join(upper, strip, output, VIPS_DIRECTION_VERTICAL, NULL);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    char *caption = filled(host, values[CAPTION].text), *credit = filled(host, values[CREDIT].text);
    int failed = frame_with(host, values, caption, credit, input, output);
    g_free(caption);
    g_free(credit);
    return failed;
}

static const PipelineFilter frame = {
    PIPELINE_FILTER_LAYOUT,
    .name = "frame",
    .version = "1.0.0",
    .summary = "a border with the caption and the credit below the picture",
    .traits = PIPELINE_CHANGES_SIZE | PIPELINE_DRAWS_TEXT | PIPELINE_READS_TEXTS,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &frame;
}
