/* scopes.h - scopes of compiled programs: what was made in one is dropped when it ends.
 *
 * A mark is the region's cursor and a serial number, which grows whenever the region takes another chunk, is
 * moved, or gets what must be kept. If it is still the same, the cursor is put back; otherwise the library sees what is left to do.
 */
#ifndef SCHEME_SCOPES_H
#define SCHEME_SCOPES_H

struct sch_mark {
    char *cursor;
    uint64_t serial;
};
void sch_release_slow(char *cursor, uint64_t serial);
SCH_APART2(void, sch_release_apart, sch_release_slow, char *, uint64_t)

static inline struct sch_mark sch_mark(void) {
#ifdef SCH_CHECKED
    sch_rt.open++;
#endif
    return (struct sch_mark){sch_rt.region->cursor, sch_rt.serial};
}
static inline void sch_release(struct sch_mark mark) {
    if (SCH_LIKELY(mark.serial == sch_rt.same)) sch_rt.region->cursor = mark.cursor;
    else sch_release_apart(mark.cursor, mark.serial);
}
/* All marks are over: something old leads to something new. */
static inline void sch_keep(void) {
    sch_rt.serial++;
    sch_rt.same++;
    sch_rt.kept = sch_rt.serial;
}

#endif
