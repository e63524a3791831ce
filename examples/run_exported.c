/* Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
 *
 *     cc -std=c99 -O2 examples/run_exported.c $(pkg-config --cflags --libs libcjson) -lm -o run_exported
 *     ./run_exported EXPORT.safetensors RESULTS.safetensors
 *
 * Replace `compute` by a call of your own kernel; pooling_conformance.h does the rest.
 */
#include "../packages/c/pooling_conformance.h"

/* The cells that output i of an axis averages: from lo to hi, which is not one of them. */
typedef struct {
    int64_t lo, hi;
} Block;

static Block block(int64_t i, int64_t size, int64_t output) {
    return (Block){i * size / output, ((i + 1) * size + output - 1) / output};
}

/* Computes the mean of each block into `output`, allocated here; returns NULL, or why it cannot. */
static const char *compute(const Tensor *data, const Tensor *sizes, Tensor *output) {
    int axes = data->rank - 2, wide = !strcmp(sizes->dtype, "I64");
    int64_t d[3] = {1, 1, 1}, o[3] = {1, 1, 1}; /* one axis as three */
    if (axes < 1 || axes > 3 || sizes->rank != 1 || sizes->shape[0] != axes ||
        (!wide && strcmp(sizes->dtype, "I32")))
        return "sizes are one integer for each of 1 to 3 axes";
    *output = *data;
    for (int axis = 0; axis < axes; axis++) {
        int64_t size = wide ? ((int64_t *)sizes->data)[axis] : ((int32_t *)sizes->data)[axis];
        if (size < 0 || size > INT32_MAX) return "a size is negative or too large";
        d[3 - axes + axis] = data->shape[2 + axis];
        o[3 - axes + axis] = output->shape[2 + axis] = size;
    }
    int64_t planes = data->shape[0] * data->shape[1];
    if ((double)planes * (double)o[0] * (double)o[1] * (double)o[2] > 1 << 28)
        return "the output is too large";
    output->count = (size_t)(planes * o[0] * o[1] * o[2]);
    float *next = output->data = checked(malloc(output->count * sizeof *next + 1), "no memory");
    const float *plane = data->data;
    for (; planes > 0; planes--, plane += d[0] * d[1] * d[2])
        for (int64_t i = 0; i < o[0]; i++)
            for (int64_t j = 0; j < o[1]; j++)
                for (int64_t k = 0; k < o[2]; k++) {
                    Block a = block(i, d[0], o[0]), b = block(j, d[1], o[1]);
                    Block c = block(k, d[2], o[2]);
                    double sum = 0;
                    for (int64_t x = a.lo; x < a.hi; x++)
                        for (int64_t y = b.lo; y < b.hi; y++)
                            for (int64_t z = c.lo; z < c.hi; z++)
                                sum += plane[(x * d[1] + y) * d[2] + z];
                    *next++ = (float)(sum / ((a.hi - a.lo) * (b.hi - b.lo) * (c.hi - c.lo)));
                }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s EXPORT RESULTS\n", argv[0]), 2;
    Run run = open_export(argv[1]);
    for (Case each = {0}; next_case(&run, &each);) {
        if (strcmp(each.operator_name, "AdaptiveAvgPool-8") || each.count != 2 ||
            strcmp(each.inputs[0].dtype, "F32")) {
            cJSON_AddStringToObject(run.unsupported, each.id, "AdaptiveAvgPool-8 of float32 only");
            continue;
        }
        Tensor output;
        const char *why = compute(&each.inputs[0], &each.inputs[1], &output);
        if (why) {
            cJSON_AddStringToObject(run.raised, each.id, why);
        } else {
            add_output(&run, &each, &output, sizeof(float));
            free(output.data);
        }
    }
    write_results(&run, argv[2]);
    return 0;
}
