/* noir: black and white with deep blacks and bright whites. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <vips/vips.h>

#include <pipeline_plugin.h>

enum { CONTRAST, STRENGTH, PARAMETER_COUNT };

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [CONTRAST] =
        {.name = "contrast",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 3,
         .default_value = "1",
         .help = "how steep the S-curve is: 0 is a straight line, 1 the look of noir, 3 almost black or white"},
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how much of the curve is applied: 0 is plain luma, 1 the whole curve"},
};

static double logistic(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* An S through (0, 0), (½, ½) and (1, 1); the straight line when `contrast` is 0. */
static double curve(double x, double contrast) {
    double steepness = 6.0 * contrast;
    if (steepness < 1e-6)
        return x;
    double low = logistic(-steepness / 2), high = logistic(steepness / 2);
    return (logistic(steepness * (x - 0.5)) - low) / (high - low);
}

static VipsImage *curve_table(VipsBandFormat format, double contrast, double strength) {
    int most = format == VIPS_FORMAT_USHORT ? UINT16_MAX : UINT8_MAX;
    VipsImage *table = vips_image_new_memory();
    vips_image_init_fields(
        table, most + 1, 1, 1, format, VIPS_CODING_NONE, VIPS_INTERPRETATION_HISTOGRAM, 1, 1);
    if (vips_image_write_prepare(table)) {
        g_object_unref(table);
        return NULL;
    }
    for (int i = 0; i <= most; i++) {
        double x = (double)i / most;
        long value = lround(most * (x + strength * (curve(x, contrast) - x)));
        if (format == VIPS_FORMAT_USHORT)
            *(uint16_t *)VIPS_IMAGE_ADDR(table, i, 0) = (uint16_t)value;
        else
            *(uint8_t *)VIPS_IMAGE_ADDR(table, i, 0) = (uint8_t)value;
    }
    return table;
}

/* Rec. 601 luma of the gamma-encoded values: what a JPEG stores as Y. */
static int luma(VipsImage *owner, VipsImage *input, int colours, VipsImage **out) {
    VipsImage **t = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 4);
    if (colours == 1)
        return vips_extract_band(input, out, 0, NULL);
    static const double weights[] = {0.299, 0.587, 0.114};
    t[0] = vips_image_new_matrix_from_array(3, 1, weights, 3);
    return t[0] == NULL || vips_extract_band(input, &t[1], 0, "n", 3, NULL) || vips_recomb(t[1], &t[2], t[0], NULL)
        || vips_rint(t[2], &t[3], NULL) || vips_cast(t[3], out, input->BandFmt, NULL);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    if (input->BandFmt != VIPS_FORMAT_UCHAR && input->BandFmt != VIPS_FORMAT_USHORT) {
        host->fail(host, "the picture has neither 8 nor 16 bits a sample");
        return -1;
    }
    int alpha = vips_image_hasalpha(input);
    int colours = input->Bands - alpha;
    if (colours != 1 && colours != 3) {
        host->fail(host, "the picture is neither grey nor sRGB");
        return -1;
    }
    VipsInterpretation grey =
        input->BandFmt == VIPS_FORMAT_USHORT ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;

    /* Owns what comes in between: libvips' way to need no clean-up on each path. */
    VipsImage *owner = vips_image_new();
    VipsImage **t = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 5);
    int failed = luma(owner, input, colours, &t[0])
        || !(t[1] = curve_table(input->BandFmt, values[CONTRAST].number, values[STRENGTH].number))
        || vips_maplut(t[0], &t[2], t[1], NULL);
    VipsImage *toned = t[2];
    if (!failed && alpha) {
        failed = vips_extract_band(input, &t[3], input->Bands - 1, NULL)
            || vips_bandjoin2(t[2], t[3], &t[4], NULL);
        toned = t[4];
    }
    failed = failed || vips_copy(toned, output, "interpretation", grey, NULL);
    g_object_unref(owner);
    return failed ? -1 : 0;
}

static const PipelineFilter noir = {
    PIPELINE_FILTER_LAYOUT,
    .name = "noir",
    .version = "1.0.0",
    .summary = "black and white with deep blacks and bright whites",
    .traits = PIPELINE_LUMA_ONLY | PIPELINE_POINTWISE | PIPELINE_CURVE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &noir;
}
