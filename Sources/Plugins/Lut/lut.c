/* lut: the look of a .cube file, a format that colour-grading programs write.
 *
 * The file contains a table of colours: a 1D table is a curve for each band, and a 3D table has a colour for each mix
 * of red, green and blue. Colours between the entries of a 3D table are interpolated in a tetrahedron of four
 * neighbours, so greys stay grey if the table maps greys to greys. */
#include <pipeline_blur.h>

enum { FILE_NAME, STRENGTH, PARAMETER_COUNT };

static const char *const suffixes[] = {".cube", NULL};

static const PipelineParameter parameters[PARAMETER_COUNT] = {
    [FILE_NAME] =
        {.name = "file",
         .type = PIPELINE_FILE,
         .default_value = "",
         .choices = suffixes,
         .help = "the name of a .cube file in the recipes' folder"},
    [STRENGTH] =
        {.name = "strength",
         .type = PIPELINE_NUMBER,
         .minimum = 0,
         .maximum = 1,
         .default_value = "1",
         .help = "how much of the look: 0 leaves the picture as it is"},
};

/* ---- Reading ---- */

/* A table of colours. The fourth number of a colour is unused. In a 3D table, red varies fastest, then green. */
typedef struct Table {
    int size, dimensions;
    size_t count, most;
    float low[3], high[3];
    PipelineQuad *colours;
    GBytes *file;
} Table;

static void clear(void *memory) {
    Table *table = memory;
    g_aligned_free(table->colours);
    g_bytes_unref(table->file);
}

/* Reads up to three numbers. Returns how many numbers it has read, or 0 if anything else follows them. */
static int numbers(const char *text, float *found) {
    int count = 0;
    char *end;
    for (; count < 3; count++, text = end) {
        double number = g_ascii_strtod(text, &end);
        if (end == text || !isfinite(number))
            break;
        found[count] = (float)number;
    }
    return text[strspn(text, " \t\r")] == 0 ? count : 0;
}

/* Allocates a table of this size. Returns FALSE if the size is not valid, or if an earlier line has already set a
 * size. */
static gboolean make_room(Table *table, int dimensions, int size) {
    if (table->colours || size < 2 || size > (dimensions == 1 ? 65536 : 129))
        return FALSE;
    table->size = size;
    table->dimensions = dimensions;
    table->most = dimensions == 1 ? (size_t)size : (size_t)size * size * size;
    table->colours = (PipelineQuad *)g_aligned_alloc0(table->most, sizeof(PipelineQuad), 16);
    return TRUE;
}

/* Reads a line of the file into the table. Returns FALSE if the line is not valid. */
static gboolean take(Table *table, const char *line) {
    float found[3];
    const char *rest = line + strcspn(line, " \t");
    if (*line == 0 || *line == '#' || g_str_has_prefix(line, "TITLE"))
        return TRUE;
    if (g_str_has_prefix(line, "LUT_1D_SIZE") || g_str_has_prefix(line, "LUT_3D_SIZE"))
        return make_room(table, line[4] - '0', atoi(rest));
    if (g_str_has_prefix(line, "DOMAIN_MIN"))
        return numbers(rest, table->low) == 3;
    if (g_str_has_prefix(line, "DOMAIN_MAX"))
        return numbers(rest, table->high) == 3;
    if (g_str_has_prefix(line, "LUT_1D_INPUT_RANGE") || g_str_has_prefix(line, "LUT_3D_INPUT_RANGE")) {
        int count = numbers(rest, found);
        for (int band = 0; band < 3; band++) {
            table->low[band] = found[0];
            table->high[band] = found[1];
        }
        return count == 2;
    }
    if (table->count >= table->most || numbers(line, found) != 3)
        return FALSE;
    table->colours[table->count++] = (PipelineQuad){found[0], found[1], found[2], 0};
    return TRUE;
}

/* Parses a .cube file. If the file is not valid, reports why, and returns NULL. */
static Table *read_table(const PipelineHost *host, const char *name, GBytes *file) {
    size_t length = 0;
    const char *bytes = (const char *)g_bytes_get_data(file, &length);
    Table *table = g_atomic_rc_box_new0(Table);
    *table = (Table){.high = {1, 1, 1}, .file = g_bytes_ref(file)};
    char *text = g_strndup(bytes, length), *next = text;
    int failed = 0;
    for (int number = 1; !failed && next; number++) {
        char *line = next;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!take(table, g_strstrip(line)))
            failed = pipeline_refuse(host, "line %d of '%s' is not valid in a .cube file: '%.60s'", number, name, line);
    }
    g_free(text);
    if (!failed && (table->colours == NULL || table->count < table->most))
        failed = pipeline_refuse(
            host, "'%s' has only %zu of %zu colours; use a complete .cube file", name, table->count, table->most);
    for (int band = 0; !failed && band < 3; band++)
        if (!(table->high[band] > table->low[band]))
            failed = pipeline_refuse(host, "the domain of '%s' is empty", name);
    if (!failed)
        return table;
    g_atomic_rc_box_release_full(table, clear);
    return NULL;
}

/* A cache of the latest table, because the next picture of the same chain needs the same table. */
static struct {
    GMutex lock;
    Table *table;
} latest;

/* Like `read_table`, but reads the same file only once. The caller owns a reference. */
static Table *shared_table(const PipelineHost *host, const char *name, GBytes *file) {
    g_mutex_lock(&latest.lock);
    if (!latest.table || !g_bytes_equal(latest.table->file, file)) {
        Table *table = read_table(host, name, file);
        if (latest.table && table)
            g_atomic_rc_box_release_full(latest.table, clear);
        latest.table = table ? table : latest.table;
        file = table ? file : NULL;
    }
    Table *result = file ? (Table *)g_atomic_rc_box_acquire(latest.table) : NULL;
    g_mutex_unlock(&latest.lock);
    return result;
}

/* ---- Applying ---- */

typedef struct Look {
    const Table *table;
    float strength;
} Look;

/* Blends a colour of the table into a pixel, in proportion to `strength`. */
static inline __attribute__((always_inline)) void mix(const Look *look, PipelineRun *run, int i, PipelineQuad colour) {
    for (int band = 0; band < 3; band++)
        run->samples[band][i] += look->strength * (colour[band] - run->samples[band][i]);
}

/* Finds the place of a run's samples in the table, for each band: the number of whole steps, and the fraction of the
 * next step. */
static inline __attribute__((always_inline)) void find(
    const Table *table, const PipelineRun *run, int steps[3][PIPELINE_RUN], float parts[3][PIPELINE_RUN]) {
    for (int band = 0; band < 3; band++) {
        float last = (float)(table->size - 1), scale = last / (table->high[band] - table->low[band]);
        for (int i = 0; i < run->count; i++) {
            float place = (run->samples[band][i] - table->low[band]) * scale;
            place = place > 0 ? place : 0;
            place = place < last ? place : last;
            int step = (int)place;
            step = step < table->size - 1 ? step : table->size - 2;
            steps[band][i] = step;
            parts[band][i] = place - (float)step;
        }
    }
}

PIPELINE_VECTORS
static void look_up_curves(const void *context, PipelineRun *run) {
    const Look *look = context;
    int steps[3][PIPELINE_RUN];
    float parts[3][PIPELINE_RUN];
    find(look->table, run, steps, parts);
    for (int i = 0; i < run->count; i++) {
        PipelineQuad colour = {0, 0, 0, 0};
        for (int band = 0; band < 3; band++) {
            const PipelineQuad *near = look->table->colours + steps[band][i];
            colour[band] = near[0][band] + parts[band][i] * (near[1][band] - near[0][band]);
        }
        mix(look, run, i, colour);
    }
}

/* Interpolates along a path from the dark corner of a cell to its bright corner: first along the axis with the largest
 * fraction, then along the axis with the middle fraction, and last along the axis with the smallest. */
PIPELINE_VECTORS
static void look_up_colours(const void *context, PipelineRun *run) {
    const Look *look = context;
    int steps[3][PIPELINE_RUN], size = look->table->size, red = 1, green = size, blue = size * size;
    float parts[3][PIPELINE_RUN];
    find(look->table, run, steps, parts);
    for (int i = 0; i < run->count; i++) {
        float r = parts[0][i], g = parts[1][i], b = parts[2][i];
        float most = r > g ? r : g, least = r > g ? g : r;
        int first = r > g ? red : green, last = r > g ? green : red;
        first = b > most ? blue : first;
        last = b > least ? last : blue;
        float middle = b > most ? most : b > least ? b : least;
        most = b > most ? b : most;
        least = b > least ? least : b;
        const PipelineQuad *dark = look->table->colours + steps[0][i] + steps[1][i] * green + steps[2][i] * blue;
        const PipelineQuad *bright = dark + red + green + blue;
        mix(look, run, i,
            (1 - most) * dark[0] + (most - middle) * dark[first] + (middle - least) * bright[-last] + least * bright[0]);
    }
}

static void let_go(void *table) {
    g_atomic_rc_box_release_full(table, clear);
}

static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *input, VipsImage **output) {
    PIPELINE_OWNED VipsImage *coloured = NULL;
    size_t size = 0;
    const void *bytes = pipeline_file(host, &values[FILE_NAME], &size);
    if (!bytes)
        return pipeline_refuse(host, "the host did not pass the file '%s'", values[FILE_NAME].text);
    GBytes *file = g_bytes_new(bytes, size);
    Table *table = shared_table(host, values[FILE_NAME].text, file);
    g_bytes_unref(file);
    if (!table)
        return -1;
    Look look = {table, (float)values[STRENGTH].number};
    if (pipeline_rgb(input, &coloured)
        || pipeline_pixels(
            coloured, NULL, table->dimensions == 1 ? look_up_curves : look_up_colours, &look, sizeof look, output)) {
        let_go(table);
        return -1;
    }
    /* Keeps the table until the result is closed. */
    g_object_set_data_full(G_OBJECT(*output), "lut-table", table, let_go);
    return 0;
}

static const char *const needed[] = {"file", NULL};

static const PipelineFilter lut = {
    PIPELINE_FILTER_LAYOUT,
    .name = "lut",
    .version = "1.0.0",
    .summary = "the look of a .cube file",
    .traits = PIPELINE_POINTWISE,
    .parameter_count = PARAMETER_COUNT,
    .parameters = parameters,
    .at_least_one_of = needed,
    .apply = apply,
};

const PipelineFilter *pipeline_filter(void) {
    return &lut;
}
