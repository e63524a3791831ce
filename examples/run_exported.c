/* Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
 *
 *     cc -std=c99 -O2 examples/run_exported.c $(pkg-config --cflags --libs libcjson) -o run_exported
 *     ./run_exported EXPORT.safetensors RESULTS.safetensors
 *
 * C99 with cJSON (Debian: libcjson-dev), for a machine that is little-endian. Replace `compute` by
 * a call of your own kernel.
 */
#include <cJSON.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank;
    int64_t shape[8];
    const char *dtype, *bytes;
} Tensor;

static void *checked(void *pointer, const char *what) {
    if (!pointer) fprintf(stderr, "run_exported: %s\n", what), exit(2);
    return pointer;
}

static const cJSON *member(const cJSON *object, const char *name) {
    return checked(cJSON_GetObjectItemCaseSensitive(object, name), name);
}

/* Reads a whole file; the text is ended by a zero. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = checked(fopen(path, "rb"), path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *content = checked(calloc(*size + 1, 1), "no memory");
    if (fread(content, 1, *size, file) != *size) checked(NULL, path);
    fclose(file);
    return content;
}

/* Returns the entries of the header by the numbers that are their names: cJSON would search. */
static const cJSON **numbered(const cJSON *header) {
    size_t count = (size_t)cJSON_GetArraySize(header);
    const cJSON **entries = checked(calloc(count, sizeof *entries), "no memory"), *entry;
    cJSON_ArrayForEach(entry, header) {
        size_t number = strtoul(entry->string, NULL, 10);
        if (strcmp(entry->string, "__metadata__") && number < count) entries[number] = entry;
    }
    return entries;
}

/* Returns the tensor of an entry, whose elements are in `data`, of `size` bytes. */
static Tensor tensor(const cJSON *entry, const char *data, size_t size) {
    const cJSON *shape = member(entry, "shape"), *extent;
    const cJSON *offsets = member(entry, "data_offsets");
    double begin = cJSON_GetNumberValue(cJSON_GetArrayItem(offsets, 0));
    double end = cJSON_GetNumberValue(cJSON_GetArrayItem(offsets, 1));
    Tensor found = {0, {0}, cJSON_GetStringValue(member(entry, "dtype")), NULL};
    if (!(0 <= begin && begin <= end && end <= (double)size)) checked(NULL, "an offset");
    if (cJSON_GetArraySize(shape) > 8) checked(NULL, "more than 8 axes");
    cJSON_ArrayForEach(extent, shape) found.shape[found.rank++] = (int64_t)extent->valuedouble;
    found.bytes = data + (size_t)begin;
    return found;
}

/* Computes the mean of each block; returns the output and its shape, or NULL and why. */
static float *compute(Tensor data, Tensor sizes, int64_t *shape, const char **why) {
    int axes = data.rank - 2, wide = !strcmp(sizes.dtype, "I64");
    int64_t d[3] = {1, 1, 1}, o[3] = {1, 1, 1}, planes = data.shape[0] * data.shape[1];
    *why = "sizes are no integers, one for each of 1 to 3 axes";
    if (axes < 1 || axes > 3 || (!wide && strcmp(sizes.dtype, "I32"))) return NULL;
    if (sizes.rank != 1 || sizes.shape[0] != axes) return NULL;
    memcpy(shape, data.shape, 2 * sizeof *shape);
    for (int axis = 0; axis < axes; axis++) {
        int32_t narrow;
        int64_t size;
        memcpy(&narrow, sizes.bytes + 4 * axis, 4);
        memcpy(&size, sizes.bytes + (wide ? 8 : 0) * axis, wide ? 8 : 4);
        if (!wide) size = narrow;
        *why = "a size is negative or too large";
        if (size < 0 || size > 1 << 20) return NULL;
        d[3 - axes + axis] = data.shape[2 + axis];
        o[3 - axes + axis] = shape[2 + axis] = size;
    }
    float *result = checked(malloc((size_t)(planes * o[0] * o[1] * o[2]) * 4 + 1), "no memory");
    float *next = result, cell;
#define FROM(i, axis) ((i) * d[axis] / o[axis])
#define TO(i, axis) ((((i) + 1) * d[axis] + o[axis] - 1) / o[axis])
    for (int64_t plane = 0; plane < planes; plane++)
        for (int64_t i = 0; i < o[0]; i++)
            for (int64_t j = 0; j < o[1]; j++)
                for (int64_t k = 0; k < o[2]; k++) {
                    double sum = 0, count = 0;
                    for (int64_t x = FROM(i, 0); x < TO(i, 0); x++)
                        for (int64_t y = FROM(j, 1); y < TO(j, 1); y++)
                            for (int64_t z = FROM(k, 2); z < TO(k, 2); z++, count++) {
                                int64_t at = ((plane * d[0] + x) * d[1] + y) * d[2] + z;
                                memcpy(&cell, data.bytes + 4 * at, 4);
                                sum += cell;
                            }
                    *next++ = (float)(sum / count);
                }
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s EXPORT RESULTS\n", argv[0]), 2;
    size_t size;
    uint64_t length = 0;
    char *content = read_file(argv[1], &size);
    if (size >= 8) memcpy(&length, content, 8);
    if (size < 8 || length > size - 8) checked(NULL, "the header is cut off");
    const char *data = content + 8 + length;
    cJSON *header = checked(cJSON_ParseWithLength(content + 8, length), "the header is no JSON");
    const cJSON **entries = numbered(header);
    const cJSON *texts = member(header, "__metadata__");
    const char *text = cJSON_GetStringValue(member(texts, "pooling-conformance vectors"));
    cJSON *vectors = checked(cJSON_Parse(checked((void *)text, "no text")), "no JSON of vectors");
    cJSON *results = cJSON_CreateObject(), *about = cJSON_CreateObject();
    cJSON_AddNumberToObject(about, "version", 1);
    cJSON *ids = cJSON_AddArrayToObject(about, "ids");
    cJSON *raised = cJSON_AddObjectToObject(about, "raised");
    cJSON *unsupported = cJSON_AddObjectToObject(about, "unsupported");
    FILE *arrays = checked(tmpfile(), "no temporary file"); /* they come after the header */
    const cJSON *each, *cases = member(vectors, "cases");
    double end = 0;
    cJSON_ArrayForEach(each, cases) {
        const char *id = cJSON_GetStringValue(member(each, "id")), *why;
        const cJSON *inputs = member(each, "inputs");
        Tensor given[2] = {{0}};
        for (int i = 0; i < 2 && i < cJSON_GetArraySize(inputs); i++) {
            const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(inputs, i));
            given[i] = tensor(checked((void *)entries[atol(name)], name), data, size - 8 - length);
        }
        cJSON_AddItemToArray(ids, cJSON_CreateString(id));
        const char *operator_name = cJSON_GetStringValue(member(each, "operator"));
        if (strcmp(operator_name, "AdaptiveAvgPool-8") || strcmp(given[0].dtype, "F32")) {
            cJSON_AddStringToObject(unsupported, id, given[0].dtype);
            continue;
        }
        int64_t shape[8], count = 1;
        float *output = compute(given[0], given[1], shape, &why);
        if (!output) {
            cJSON_AddStringToObject(raised, id, why);
            continue;
        }
        cJSON *entry = cJSON_AddObjectToObject(results, id);
        cJSON *extents = cJSON_CreateArray();
        for (int axis = 0; axis < given[0].rank; count *= shape[axis++])
            cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)shape[axis]));
        double offsets[2] = {end, end + 4.0 * (double)count};
        cJSON_AddStringToObject(entry, "dtype", "F32");
        cJSON_AddItemToObject(entry, "shape", extents);
        cJSON_AddItemToObject(entry, "data_offsets", cJSON_CreateDoubleArray(offsets, 2));
        fwrite(output, 4, (size_t)count, arrays);
        end = offsets[1];
        free(output);
    }
    char *of_vectors = checked(cJSON_PrintUnformatted(about), "no memory");
    cJSON_AddStringToObject(cJSON_AddObjectToObject(results, "__metadata__"),
                            "pooling-conformance results", of_vectors);
    char *written = checked(cJSON_PrintUnformatted(results), "no memory"), block[4096];
    FILE *file = checked(fopen(argv[2], "wb"), argv[2]);
    length = strlen(written);
    fwrite(&length, 8, 1, file), fwrite(written, 1, length, file);
    rewind(arrays);
    for (size_t some; (some = fread(block, 1, sizeof block, arrays)) > 0;)
        fwrite(block, 1, some, file);
    if (fclose(file)) checked(NULL, argv[2]);
    printf("%d outputs, %d raised, %d unsupported\n", cJSON_GetArraySize(results) - 1,
           cJSON_GetArraySize(raised), cJSON_GetArraySize(unsupported));
    return 0;
}
