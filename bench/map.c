/* A model on every device that is known, at six batch sizes and every precision: how long `assay map --hardware
 * all` takes on the largest built-in graphs. The shortest of some runs counts: it is a promise about work, not about
 * who else uses the machine.
 *
 *   map [MODEL ...]      under 50 ms each; $ASSAY is the program
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 15 };
#define TARGET_MS 50.0

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Wall milliseconds of one run; negative when it failed. */
static double run(const char *program, const char *model)
{
    double began = now_ms();
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl(program, "assay", "map", model, "--hardware", "all", "-q", (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return now_ms() - began;
}

int main(int argc, char **argv)
{
    static const char *const largest[] = {"deepseek-v3",     "deepseek-v2",  "sdxl-unet",
                                          "qwen3-235b-a22b", "flux-schnell", "llama-3.1-405b",
                                          "sd3.5-large",     "gpt-oss-120b", "swinir_classical_x4",
                                          "maxvit_t",        "resnet50"};
    const char *program = getenv("ASSAY") ? getenv("ASSAY") : "build/release/assay";
    int n = argc > 1 ? argc - 1 : (int)(sizeof largest / sizeof *largest), missed = 0;
    for (int i = 0; i < n; i++) {
        const char *model = argc > 1 ? argv[i + 1] : largest[i];
        double best = -1;
        for (int k = 0; k < RUNS; k++) {
            double ms = run(program, model);
            if (ms < 0)
                return printf("%s map %s failed\n", program, model), 1;
            best = best < 0 || ms < best ? ms : best;
        }
        printf("  map %-28s %8.2f ms  target %g  %s\n", model, best, TARGET_MS,
               best <= TARGET_MS ? "met" : "MISSED");
        missed |= best > TARGET_MS;
    }
    return missed;
}
