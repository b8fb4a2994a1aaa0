/* SQLite, with a constant that Swift cannot import because it is a cast, and a call of a variadic function. */
#include <sqlite3.h>

static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* sqlite3_config(SQLITE_CONFIG_MEMSTATUS): before the first connection. */
static inline int csqlite_count_memory(int counts) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, counts);
}
