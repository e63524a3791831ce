/* Compares every answer of `conformance export verdicts` with what the file says of it.
 *
 *     cc -std=c99 -O2 packages/c/test/verdicts.c $(pkg-config --cflags --libs libcjson) -lm -o verdicts
 *     ./verdicts verdicts.safetensors
 */
#include "../pooling_conformance.h"

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s VERDICTS\n", argv[0]), 2;
    Run run = open_export(argv[1]);
    int answers = 0, wrong = 0;
    for (Case each = {0}; next_case(&run, &each);) {
        const cJSON *answer, *name;
        cJSON_ArrayForEach(answer, member(each.record, "answers")) {
            Tensor outputs[MOST_INPUTS];
            int count = 0;
            cJSON_ArrayForEach(name, member(answer, "outputs")) outputs[count++] = tensor(&run, name);
            int expected = cJSON_IsTrue(member(answer, "conforms"));
            if (conforms(&run, &each, outputs, count) != expected)
                printf("%s, answer %d\n", each.id, answers), wrong++;
            while (count) free(outputs[--count].data);
            answers++;
        }
    }
    printf("%d answers, %d other verdicts\n", answers, wrong);
    return wrong > 0;
}
