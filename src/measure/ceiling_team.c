/* One thread per processor that this process may use, each bound to its own. They meet at a barrier, run the same
 * loop on their own memory, and meet again. A sample lasts from the first start to the last end. Threads that a probe
 * does not use stay outside both barriers. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/memory.h"
#include "measure/ceilings.h"

enum { ALIGN = 4096, LARGE_PAGE = 2 << 20, THREADS_MAX = 1024 };

typedef struct member {
    ceiling_team *team;
    unsigned index;
    pthread_t thread;
    bool started;
    void *memory;
    uint64_t bytes;
    uint64_t begun_ns, ended_ns;
    uint64_t part; /* the next one to move */
    char sink[64];
} member;

struct ceiling_team {
    member *members;
    unsigned n;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    uint64_t turn;          /* counts samples */
    unsigned left, waiting; /* members that have not ended; that are not yet at the start */
    bool over;
    const ceiling_probe *probe;
    uint64_t rounds;
    cpu_set_t usable;
};

/* ---- a member ---- */

static void stay_on_one(const member *m)
{
    cpu_set_t one;
    unsigned nth = m->index % (unsigned)CPU_COUNT(&m->team->usable);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &m->team->usable) && nth-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    pthread_setaffinity_np(pthread_self(), sizeof one,
                           &one); /* a wish: without it numbers are noisier */
}

/* Arrays begin a line apart in their sets, or caches would throw one out for the other. */
static ceiling_arrays part_of(const member *m, const ceiling_probe *p, uint64_t part)
{
    size_t step = (size_t)p->array_bytes + 2 * ALIGN + 64;
    uint64_t parts = p->array_bytes / p->part_bytes;
    char *at = (char *)m->memory + part % parts * p->part_bytes;
    return (ceiling_arrays){at, at + step, at + 2 * step, (size_t)p->part_bytes};
}

/* Sets of one part are passed again and again; of more, each round takes the next part, and the place is kept
 * from sample to sample: nothing is met again before the whole set has passed. */
static void move_data(member *m, const ceiling_probe *p, uint64_t rounds)
{
    const ceiling_move_row *row = p->of;
    ceiling_move_fn *const fns[] = {row->read, row->write, row->copy, row->triad};
    bool whole = p->part_bytes == p->array_bytes;
    for (uint64_t done = 0; done < rounds; done += whole ? rounds : 1) {
        const ceiling_arrays x = part_of(m, p, m->part++);
        fns[p->kind](&x, whole ? rounds : 1, m->sink);
    }
}

static void run_loop(member *m, const ceiling_probe *p, uint64_t rounds)
{
    if (p->kind < 0)
        ((const ceiling_fma_row *)p->of)->run(rounds, m->sink);
    else
        move_data(m, p, rounds);
}

/* Spins until the others arrive, so that no thread starts from sleep. */
static void meet(ceiling_team *t)
{
    __atomic_sub_fetch(&t->waiting, 1, __ATOMIC_ACQ_REL);
    uint64_t until = clock_mono_ns() + 2000000u;
    while (__atomic_load_n(&t->waiting, __ATOMIC_ACQUIRE) > 0 && clock_mono_ns() < until)
        continue;
}

static void *member_thread(void *arg)
{
    member *m = arg;
    ceiling_team *t = m->team;
    uint64_t seen = 0;
    stay_on_one(m);
    if (m->memory)
        memset(m->memory, 1, m->bytes);
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->over && (t->turn == seen || m->index >= t->probe->threads)) {
            seen = t->turn;
            pthread_cond_wait(&t->wake, &t->lock);
        }
        if (t->over)
            break;
        seen = t->turn;
        const ceiling_probe *p = t->probe;
        uint64_t rounds = t->rounds;
        pthread_mutex_unlock(&t->lock);
        meet(t);
        m->begun_ns = clock_mono_ns();
        run_loop(m, p, rounds);
        m->ended_ns = clock_mono_ns();
        pthread_mutex_lock(&t->lock);
        if (--t->left == 0)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the team ---- */

/* With small pages every run would find another bandwidth: it depends on where its pages lie, and in a guest
 * on two page tables. A wish as well. */
static void ask_large_pages(void *memory, uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes)
        madvise(memory, bytes, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

static bool start_member(ceiling_team *t, unsigned i, uint64_t bytes)
{
    member *m = &t->members[i];
    *m = (member){.team = t, .index = i, .bytes = bytes};
    if (bytes && posix_memalign(&m->memory, LARGE_PAGE, bytes) != 0)
        return false;
    ask_large_pages(m->memory, bytes);
    m->started = pthread_create(&m->thread, NULL, member_thread, m) == 0;
    return m->started;
}

assay_status ceiling_team_new(unsigned threads, uint64_t first_bytes, uint64_t other_bytes,
                              ceiling_team **out, assay_error *err)
{
    ceiling_team *t = memory_zeroed(1, sizeof *t);
    *out = NULL;
    if (!t || threads < 1 || threads > THREADS_MAX) {
        free(t);
        return err_no_memory(err);
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    pthread_cond_init(&t->done, NULL);
    if (sched_getaffinity(0, sizeof t->usable, &t->usable) != 0 || CPU_COUNT(&t->usable) < 1) {
        CPU_ZERO(&t->usable);
        CPU_SET(0, &t->usable);
    }
    t->members = memory_zeroed(threads, sizeof *t->members);
    while (t->members && t->n < threads && start_member(t, t->n, t->n ? other_bytes : first_bytes))
        t->n++;
    if (t->n == threads) {
        *out = t;
        return ASSAY_OK;
    }
    if (t->members && t->n < threads)
        free(t->members[t->n].memory);
    ceiling_team_free(t);
    return err_fail(err, ASSAY_ERR_SYSTEM,
                    "cannot start %u threads with up to %llu MiB each. Free some memory, or use "
                    "fewer --threads.",
                    threads, (unsigned long long)(first_bytes >> 20));
}

void ceiling_team_free(ceiling_team *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->over = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->n; i++) {
        pthread_join(t->members[i].thread, NULL);
        free(t->members[i].memory);
    }
    pthread_cond_destroy(&t->wake);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    free(t->members);
    free(t);
}

double ceiling_team_sample(ceiling_team *t, const ceiling_probe *p, uint64_t rounds)
{
    uint64_t first = UINT64_MAX, last = 0;
    if (p->threads > t->n)
        return 0;
    pthread_mutex_lock(&t->lock);
    t->probe = p;
    t->rounds = rounds;
    t->left = p->threads;
    __atomic_store_n(&t->waiting, p->threads, __ATOMIC_RELEASE);
    t->turn++;
    pthread_cond_broadcast(&t->wake);
    while (t->left > 0)
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < p->threads; i++) {
        const member *m = &t->members[i];
        first = m->begun_ns < first ? m->begun_ns : first;
        last = m->ended_ns > last ? m->ended_ns : last;
    }
    return last > first ? (double)(last - first) / 1e9 : 0;
}
