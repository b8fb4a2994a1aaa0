/* grain: the grain of film.
 *
 * Adds Gaussian noise, with the same value for all bands of a pixel. The noise has its full strength, `amount`, at
 * medium luma, and fades out towards black and white. A size in `%` gives the same look at any picture size: grains
 * that are smaller than a pixel become weaker, as they would if a larger picture were shrunk. The same seed gives the
 * same noise. The noise repeats every 512 pixels, which is not noticeable. */
#include <pipeline_vips.h>

enum { AMOUNT, SIZE, UNIT, SEED, PARAMETER_COUNT };

static const char *const units[] = {"%", "px", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [AMOUNT] =
        {.name = "amount",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "0.04",
         .help = "how strong: the noise's standard deviation, as a part of white"},
    [SIZE] =
        {.name = "size",
         .type = PIPELINE_NUMBER,
         .minimum = 0.01,
         .maximum = 40,
         .default_value = "0.15",
         .help = "how large a grain is, up to 40 pixels"},
    [UNIT] =
        {.name = "unit",
         .type = PIPELINE_CHOICE,
         .default_value = "%",
         .choices = units,
         .help = "what the size is counted in: hundredths of the short side, or pixels"},
    [SEED] =
        {.name = "seed",
         .type = PIPELINE_INTEGER,
         .minimum = 0,
         .maximum = 1000000,
         .default_value = "1",
         .help = "another number makes another grain"},
};

enum { TILE = 512 };

/* Computes the factor by which a blur in both directions reduces the standard deviation of noise: the sum of the
 * squares of the one-dimensional kernel's normalised weights. */
static double weakening(double sigma) {
    double sum = 0, squares = 0;
    for (int x = -100; x <= 100; x++) {
        double weight = exp(-x * x / (2 * sigma * sigma));
        sum += weight;
        squares += weight * weight;
    }
    return squares / (sum * sum);
}

/* Makes a tile of noise in memory, with standard deviation 1 and opposite edges that fit together. A blur makes the
 * grains as large as `size`. */
static int tile(double size, int seed, VipsImage **out) {
    double sigma = size / 2;
    int margin = (int)ceil(4 * sigma);
    PIPELINE_OWNED VipsImage *fine = NULL, *around = NULL, *soft = NULL, *cut = NULL, *even = NULL;
    if (vips_gaussnoise(&fine, TILE, TILE, "mean", 0.0, "sigma", 1.0, "seed", seed, NULL)
        || vips_embed(
            fine, &around, margin, margin, TILE + 2 * margin, TILE + 2 * margin, "extend", VIPS_EXTEND_REPEAT, NULL)
        || vips_gaussblur(around, &soft, sigma, "min_ampl", 0.01, "precision", VIPS_PRECISION_FLOAT, NULL)
        || vips_crop(soft, &cut, margin, margin, TILE, TILE, NULL)
        || vips_linear1(cut, &even, 1 / weakening(sigma), 0, NULL))
        return -1;
    *out = vips_image_copy_memory(even);
    return *out == NULL;
}

/* A cache of the latest tiles, because the next pictures of the same chains need the same tiles. */
static struct {
    GMutex lock;
    struct {
        VipsImage *noise;
        double size;
        int seed;
    } tiles[4];
    int next;
} latest;

/* Like `tile`, but reuses a tile that is still in `latest`. */
static int shared_tile(double size, int seed, VipsImage **out) {
    int failed = 0, place = 0, count = G_N_ELEMENTS(latest.tiles);
    g_mutex_lock(&latest.lock);
    while (place < count
           && !(latest.tiles[place].noise && latest.tiles[place].size == size && latest.tiles[place].seed == seed))
        place++;
    if (place == count) {
        place = latest.next++ % count;
        g_clear_object(&latest.tiles[place].noise);
        failed = tile(size, seed, &latest.tiles[place].noise);
        latest.tiles[place].size = size;
        latest.tiles[place].seed = seed;
    }
    if (!failed)
        *out = g_object_ref(latest.tiles[place].noise);
    g_mutex_unlock(&latest.lock);
    return failed;
}

typedef struct Film {
    float amount;
    const float *noise;
} Film;

PIPELINE_VECTORS
static void add_grain(const void *context, PipelineRun *run) {
    const Film *film = context;
    const float *row = film->noise + run->y % TILE * TILE;
    float grains[PIPELINE_RUN];
    for (int i = 0; i < run->count; i++)
        grains[i] = film->amount * row[(run->x + i) % TILE];
    for (int i = 0; i < run->count; i++) {
        float luma = pipeline_run_luma(run, i);
        grains[i] *= 4 * luma * (1 - luma);
    }
    for (int band = 0; band < run->bands; band++)
        for (int i = 0; i < run->count; i++)
            run->samples[band][i] += grains[i];
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    (void)host;
    VipsImage *noise = NULL;
    double size = pipeline_length(values[SIZE].number, values[UNIT].text, input);
    if (shared_tile(VIPS_CLIP(0.5, size, 40), (int)values[SEED].number, &noise))
        return -1;
    Film film = {(float)(values[AMOUNT].number * fmin(1, size)), (const float *)noise->data};
    int failed = pipeline_pixels(input, NULL, add_grain, &film, sizeof film, output);
    /* Keeps the noise until the result is closed, or releases it now if there is no result. */
    if (failed)
        g_object_unref(noise);
    else
        vips_object_local(*output, noise);
    return failed;
}

static const PipelineFilter grain = {
    PIPELINE_FILTER_LAYOUT,
    .name = "grain",
    .version = "1.0.0",
    .summary = "the grain of film",
    .traits = PIPELINE_KEEPS_GAIN_MAP,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &grain;
}
