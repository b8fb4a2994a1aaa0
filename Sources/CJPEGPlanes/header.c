/* Reads the segments strictly, and leaves unusual files to libjpeg. Before it accesses the bytes of a segment, it
 * compares the segment's length with the rest of the file. */
#include "header.h"

#include <string.h>

enum { MOST_PIXELS_A_SIDE = 65500 };

enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    DHT = 0xc4,
    SOI = 0xd8,
    SOS = 0xda,
    DQT = 0xdb,
    DRI = 0xdd,
    APP0 = 0xe0,
    APP14 = 0xee,
    APP15 = 0xef,
    COM = 0xfe,
};

typedef struct {
    const uint8_t *bytes;
    size_t count;
} segment;

/* Facts from the file's markers that determine its colour space. */
typedef struct {
    bool is_jfif, is_adobe;
    uint8_t adobe_transform;
} colour_marks;

static bool read_quantizers(jpeg_header *header, segment data) {
    while (data.count > 0) {
        /* The upper bits are set if the values have 16 bits. The standard does not allow a value of 0. */
        uint8_t number = data.bytes[0];
        if (number > 3 || data.count < 65 || memchr(data.bytes + 1, 0, 64)) return false;
        memcpy(header->quantizers[number], data.bytes + 1, 64);
        header->has_quantizer[number] = true;
        data.bytes += 65, data.count -= 65;
    }
    return true;
}

static bool read_codes(jpeg_header *header, segment data) {
    while (data.count > 0) {
        if (data.count < 17) return false;
        uint8_t number = data.bytes[0] & 15, class = data.bytes[0] >> 4;
        size_t total = 0;
        for (int i = 1; i <= 16; i++) total += data.bytes[i];
        if (number > 3 || class > 1 || total > 256 || data.count < 17 + total) return false;
        jpeg_code *code = class == 0 ? &header->dc[number] : &header->ac[number];
        memset(code, 0, sizeof *code);
        memcpy(code->counts, data.bytes + 1, 16);
        memcpy(code->values, data.bytes + 17, total);
        code->is_defined = true;
        data.bytes += 17 + total, data.count -= 17 + total;
    }
    return true;
}

static bool read_frame(jpeg_header *header, segment data) {
    if (header->count != 0 || data.count < 6 || data.bytes[0] != 8) return false;
    header->height = data.bytes[1] << 8 | data.bytes[2];
    header->width = data.bytes[3] << 8 | data.bytes[4];
    header->count = data.bytes[5];
    if (header->width < 1 || header->width > MOST_PIXELS_A_SIDE) return false;
    if (header->height < 1 || header->height > MOST_PIXELS_A_SIDE) return false;
    if ((header->count != 1 && header->count != 3) || data.count != 6 + 3 * (size_t)header->count) return false;
    for (int i = 0; i < header->count; i++) {
        const uint8_t *bytes = data.bytes + 6 + 3 * i;
        jpeg_component *component = &header->components[i];
        *component =
            (jpeg_component){.id = bytes[0], .across = bytes[1] >> 4, .down = bytes[1] & 15, .quantizer = bytes[2]};
        int most = i == 0 && header->count == 3 ? 2 : 1;
        if (component->across < 1 || component->across > most) return false;
        if (component->down < 1 || component->down > most || component->quantizer > 3) return false;
        for (int other = 0; other < i; other++) {
            if (header->components[other].id == component->id) return false;
        }
    }
    return true;
}

static bool read_scan(jpeg_header *header, segment data) {
    size_t count = (size_t)header->count;
    if (count == 0 || data.count != 4 + 2 * count || data.bytes[0] != count) return false;
    for (size_t i = 0; i < count; i++) {
        jpeg_component *component = &header->components[i];
        if (data.bytes[1 + 2 * i] != component->id) return false;
        component->dc = data.bytes[2 + 2 * i] >> 4, component->ac = data.bytes[2 + 2 * i] & 15;
        if (component->dc > 3 || component->ac > 3 || !header->has_quantizer[component->quantizer]) return false;
        if (!header->dc[component->dc].is_defined || !header->ac[component->ac].is_defined) return false;
    }
    /* A sequential scan contains all coefficients with all their bits. */
    const uint8_t *range = data.bytes + 1 + 2 * count;
    return range[0] == 0 && range[1] == 63 && range[2] == 0;
}

/* Like libjpeg, ignores unknown markers, and uses the last of several markers of the same kind. */
static bool read_application(colour_marks *marks, uint8_t kind, segment data) {
    if (kind == APP0 && data.count >= 14 && memcmp(data.bytes, "JFIF", 5) == 0) {
        marks->is_jfif = true;
        return data.bytes[5] == 1;
    }
    if (kind == APP14 && data.count >= 12 && memcmp(data.bytes, "Adobe", 5) == 0) {
        marks->is_adobe = true, marks->adobe_transform = data.bytes[11];
    }
    return true;
}

/* The rules of libjpeg's default_decompress_parms. Three components that are not YCbCr are RGB. */
static bool is_grey_or_ycbcr(const jpeg_header *header, colour_marks marks) {
    if (header->count == 1 || marks.is_jfif) return true;
    if (marks.is_adobe) return marks.adobe_transform == 1;
    const jpeg_component *components = header->components;
    return !(components[0].id == 'R' && components[1].id == 'G' && components[2].id == 'B');
}

bool jpeg_planes_read_header(jpeg_header *header, const uint8_t *file, size_t length) {
    memset(header, 0, sizeof *header);
    colour_marks marks = {0};
    if (length < 2 || file[0] != 0xff || file[1] != SOI) return false;
    for (size_t at = 2;;) {
        if (length - at < 4 || file[at] != 0xff) return false;
        uint8_t kind = file[at + 1];
        size_t size = (size_t)(file[at + 2] << 8 | file[at + 3]);
        if (size < 2 || length - at < 2 + size) return false;
        segment data = {file + at + 4, size - 2};
        at += 2 + size;
        bool is_good = false;
        if (kind == SOS) {
            header->scan = file + at;
            return read_scan(header, data) && is_grey_or_ycbcr(header, marks);
        } else if (kind == DQT) {
            is_good = read_quantizers(header, data);
        } else if (kind == DHT) {
            is_good = read_codes(header, data);
        } else if (kind == SOF0 || kind == SOF1) {
            is_good = read_frame(header, data);
        } else if (kind == DRI) {
            is_good = data.count == 2;
            if (is_good) header->restart_interval = data.bytes[0] << 8 | data.bytes[1];
        } else if (kind >= APP0 && kind <= APP15) {
            is_good = read_application(&marks, kind, data);
        } else {
            is_good = kind == COM;
        }
        if (!is_good) return false;
    }
}
