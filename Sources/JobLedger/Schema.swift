import CSQLite
import JobModel

/// The ledger's tables. `user_version` is the number of migrations that a file has gone through. An older file is
/// migrated step by step.
enum Schema {
    /// Configures the connection, checks the file, and migrates it to the current version. If the file has no tables
    /// yet, calls `willBegin` before the migration.
    static func prepare(_ database: Database, willBegin: () throws -> Void) throws {
        // WAL: readers never wait for the writer. FULL: a commit survives a power cut.
        try database.script("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;")
        // A checkpoint runs once the WAL has 4000 pages. Checkpoints should be rare, because a burst changes the same
        // pages repeatedly, and each checkpoint writes them again.
        try database.script("PRAGMA wal_autocheckpoint=4000;")
        // The page cache; a negative size is in KiB. If a bulk change does not fit into the cache, SQLite writes and
        // reads the changed pages repeatedly.
        try database.script("PRAGMA cache_size=-16000;")
        // The table `ended` contains the jobs whose dependents still have to be updated. It also contains the
        // dependents that fail; their `cause` is the dependency at fault.
        try database.script(
            "PRAGMA temp_store=MEMORY; CREATE TEMP TABLE ended (id INTEGER PRIMARY KEY, cause INTEGER) STRICT")
        try check(database)
        let version = try version(of: database)
        guard version <= steps.count else {
            throw LedgerError(
                attempted: "read version \(version)",
                message: "it was written by a newer pipelined; this one knows versions up to \(steps.count)",
                code: SQLITE_CANTOPEN)
        }
        if version == 0 { try willBegin() }
        for (number, step) in zip(1..., steps).dropFirst(version) { try step.run(number, on: database) }
    }

    static func version(of database: Database) throws -> Int { try database.value("PRAGMA user_version") ?? 0 }

    /// Throws if the file has damaged pages. Without the check, jobs would fail one by one when they use a damaged
    /// page.
    static func check(_ database: Database) throws {
        let faults: [String] = try database.column("PRAGMA quick_check(1)")
        guard faults == ["ok"] else {
            throw LedgerError(attempted: "check", message: faults.joined(separator: "; "), code: SQLITE_CORRUPT)
        }
    }

    static let steps = [
        Migration(
            name: "jobs, work orders, events and paused queues",
            """
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY,
                body TEXT NOT NULL UNIQUE
            ) STRICT;

            CREATE TABLE jobs (
                id INTEGER PRIMARY KEY,
                position INTEGER NOT NULL,
                batch INTEGER,
                work INTEGER NOT NULL REFERENCES orders(id),
                path TEXT NOT NULL,
                origin TEXT NOT NULL,
                source TEXT NOT NULL,
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                size INTEGER NOT NULL,
                modified INTEGER NOT NULL,
                state TEXT NOT NULL,
                reason TEXT,
                error TEXT,
                advice TEXT,
                intent TEXT,
                outputs TEXT,
                story TEXT,
                tries INTEGER NOT NULL DEFAULT 0,
                disposed INTEGER NOT NULL DEFAULT 0,
                created REAL NOT NULL,
                started REAL,
                finished REAL
            ) STRICT;

            CREATE INDEX jobs_by_state ON jobs(state, position);
            CREATE INDEX jobs_by_batch ON jobs(batch) WHERE batch IS NOT NULL;
            CREATE INDEX jobs_undisposed ON jobs(id) WHERE disposed = 0 AND state IN ('done', 'failed', 'cancelled');
            CREATE INDEX jobs_by_source ON jobs(source) WHERE disposed = 0;
            CREATE INDEX jobs_by_path ON jobs(path);
            CREATE INDEX jobs_kept ON jobs(device, inode) WHERE origin = 'kept';

            CREATE TABLE events (
                cursor INTEGER PRIMARY KEY AUTOINCREMENT,
                time REAL NOT NULL,
                kind TEXT NOT NULL,
                job INTEGER,
                state TEXT,
                queue TEXT,
                text TEXT
            ) STRICT;

            CREATE TABLE paused (
                queue TEXT PRIMARY KEY,
                reason TEXT
            ) STRICT
            """),

        Migration(
            name: "downloads, batches, dependencies, priorities and retries",
            """
            ALTER TABLE jobs ADD COLUMN url TEXT;
            ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE jobs ADD COLUMN hold TEXT;
            ALTER TABLE jobs ADD COLUMN due REAL;
            ALTER TABLE jobs ADD COLUMN setbacks INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE jobs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE jobs ADD COLUMN failure TEXT;
            ALTER TABLE jobs ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE jobs ADD COLUMN staged TEXT;
            ALTER TABLE jobs ADD COLUMN anyway INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE events ADD COLUMN batch INTEGER;

            UPDATE jobs SET hold = 'place' WHERE state = 'waiting';
            UPDATE jobs SET crashes = tries WHERE state NOT IN ('done', 'failed', 'cancelled');

            DROP INDEX jobs_by_state;
            CREATE INDEX jobs_by_state ON jobs(state);
            CREATE INDEX jobs_to_download ON jobs(priority DESC, position)
                WHERE state = 'queued' AND url IS NOT NULL AND inode = 0;
            CREATE INDEX jobs_to_render ON jobs(priority DESC, position)
                WHERE state = 'queued' AND (url IS NULL OR inode <> 0);
            CREATE INDEX jobs_by_due ON jobs(due) WHERE due IS NOT NULL;
            CREATE INDEX jobs_by_work ON jobs(work);
            CREATE INDEX jobs_waiting ON jobs(hold, reason, due, error) WHERE state = 'waiting';

            CREATE TABLE batches (
                id INTEGER PRIMARY KEY,
                name TEXT,
                open INTEGER NOT NULL DEFAULT 0,
                created REAL NOT NULL,
                finished REAL
            ) STRICT;

            INSERT INTO batches (id, created, finished)
                SELECT batch, MIN(created), CASE WHEN COUNT(*) = COUNT(finished) THEN MAX(finished) END
                FROM jobs WHERE batch IS NOT NULL GROUP BY batch;

            CREATE TABLE arrivals (batch INTEGER PRIMARY KEY) STRICT;

            CREATE INDEX jobs_on_way ON jobs(batch)
                WHERE batch IS NOT NULL AND state IN ('waiting', 'queued', 'running', 'cancelling') AND hold IS NOT 'barrier'
                    AND hold IS NOT 'after';
            CREATE INDEX jobs_after ON jobs(batch) WHERE hold = 'after';
            CREATE INDEX jobs_at_barrier ON jobs(batch, segment) WHERE hold = 'barrier';

            CREATE TRIGGER job_of_batch_entered AFTER INSERT ON jobs WHEN NEW.batch IS NOT NULL
                BEGIN INSERT OR IGNORE INTO arrivals (batch) VALUES (NEW.batch); END;
            CREATE TRIGGER job_of_batch_moved AFTER UPDATE OF state, hold ON jobs WHEN NEW.batch IS NOT NULL
                BEGIN INSERT OR IGNORE INTO arrivals (batch) VALUES (NEW.batch); END;

            CREATE TABLE hooks (
                recipe TEXT PRIMARY KEY,
                cursor INTEGER NOT NULL,
                failures INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE needs (
                job INTEGER NOT NULL,
                after INTEGER NOT NULL,
                met INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (job, after)
            ) STRICT, WITHOUT ROWID;

            CREATE INDEX needs_by_after ON needs(after);
            CREATE INDEX needs_open ON needs(job) WHERE met = 0
            """),

        Migration(
            name: "the latest barrier that was announced for a batch",
            "ALTER TABLE batches ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0"),

        Migration(
            name: "the downloaded part of an original, from which a retry resumes",
            "ALTER TABLE jobs ADD COLUMN partial TEXT"),

        Migration(
            name: "counts of each batch's jobs, by triggers",
            """
            CREATE TABLE tallies (
                batch INTEGER NOT NULL,
                state TEXT NOT NULL,
                segment INTEGER NOT NULL,
                jobs INTEGER NOT NULL,
                PRIMARY KEY (batch, state, segment)
            ) STRICT, WITHOUT ROWID;

            INSERT INTO tallies SELECT batch, state, segment, COUNT(*) FROM jobs WHERE batch IS NOT NULL GROUP BY 1, 2, 3;

            CREATE INDEX batches_unfinished ON batches(id) WHERE finished IS NULL;

            CREATE TRIGGER job_of_batch_counted AFTER INSERT ON jobs WHEN NEW.batch IS NOT NULL BEGIN
                INSERT INTO tallies VALUES (NEW.batch, NEW.state, NEW.segment, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
            END;
            CREATE TRIGGER job_of_batch_recounted AFTER UPDATE OF state, segment ON jobs
            WHEN NEW.batch IS NOT NULL AND (OLD.state <> NEW.state OR OLD.segment <> NEW.segment) BEGIN
                UPDATE tallies SET jobs = jobs - 1 WHERE batch = OLD.batch AND state = OLD.state AND segment = OLD.segment;
                INSERT INTO tallies VALUES (NEW.batch, NEW.state, NEW.segment, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
            END;
            CREATE TRIGGER job_of_batch_forgotten AFTER DELETE ON jobs WHEN OLD.batch IS NOT NULL BEGIN
                UPDATE tallies SET jobs = jobs - 1 WHERE batch = OLD.batch AND state = OLD.state AND segment = OLD.segment;
                DELETE FROM tallies WHERE batch = OLD.batch AND jobs = 0;
            END
            """),

        Migration(
            name: "an index of failed jobs, for the count of the day's failures",
            "CREATE INDEX jobs_failed ON jobs(finished) WHERE state = 'failed'"),

        // `obstacle`: the reason why a job waits, without details such as the time of its retry. Queries count the jobs
        // with the same obstacle together.
        Migration(
            name: "obstacles",
            """
            ALTER TABLE jobs ADD COLUMN obstacle TEXT GENERATED ALWAYS AS
                (CASE hold WHEN 'retry' THEN error WHEN 'after' THEN NULL ELSE reason END) VIRTUAL;
            DROP INDEX jobs_waiting;
            CREATE INDEX jobs_waiting ON jobs(hold, obstacle, due, batch) WHERE state = 'waiting'
            """),

        // The host of a URL, without user and password: the text between scheme and path, after the last @.
        Migration(
            name: "hosts of downloads",
            """
            ALTER TABLE jobs ADD COLUMN authority TEXT GENERATED ALWAYS AS (
                substr(url, instr(url, '://') + 3, instr(replace(replace(replace(
                    substr(url, instr(url, '://') + 3), '?', '/'), '#', '/'), '\\', '/') || '/', '/') - 1)
            ) VIRTUAL;
            ALTER TABLE jobs ADD COLUMN host TEXT GENERATED ALWAYS AS (
                lower(substr(authority, length(rtrim(authority, replace(authority, '@', ''))) + 1))
            ) VIRTUAL;
            CREATE INDEX jobs_by_host ON jobs(priority, host, position)
                WHERE state = 'queued' AND url IS NOT NULL AND inode = 0
            """),

        // `returns`: the target path of an original that is being brought back. An older version could lose an original
        // during the move back; `disposed = 0` makes the daemon search for that original.
        Migration(
            name: "originals that are brought back",
            """
            ALTER TABLE jobs ADD COLUMN returns TEXT;
            CREATE INDEX jobs_returning ON jobs(returns) WHERE returns IS NOT NULL;

            UPDATE jobs SET disposed = 0 WHERE disposed = 1 AND state <> 'done' AND origin <> 'kept' AND inode <> 0
                AND (instr(source, '/.pipelined/') > 0 OR instr(source, '/spool/') > 0)
            """),

        Migration(
            name: "batches end with the moves of their originals",
            """
            CREATE INDEX jobs_of_batch_undisposed ON jobs(batch)
                WHERE batch IS NOT NULL AND disposed = 0 AND state IN ('done', 'failed', 'cancelled');

            DROP TRIGGER job_of_batch_moved;
            CREATE TRIGGER job_of_batch_moved AFTER UPDATE OF state, hold, disposed ON jobs WHEN NEW.batch IS NOT NULL
                BEGIN INSERT OR IGNORE INTO arrivals (batch) VALUES (NEW.batch); END
            """),

        // Replaces the generated column `host` with a stored column, because SQLite would recompute a generated column
        // at each change of an index.
        Migration(
            name: "hosts of downloads, stored",
            """
            DROP INDEX jobs_by_host;
            ALTER TABLE jobs RENAME COLUMN host TO derived;
            ALTER TABLE jobs ADD COLUMN host TEXT;
            UPDATE jobs SET host = derived WHERE url IS NOT NULL;
            ALTER TABLE jobs DROP COLUMN derived;
            ALTER TABLE jobs DROP COLUMN authority;
            CREATE INDEX jobs_by_host ON jobs(priority, host, position)
                WHERE state = 'queued' AND url IS NOT NULL AND inode = 0
            """),

        Migration(
            name: "indexes of staged files and of intents, for the start",
            """
            CREATE INDEX jobs_staged ON jobs(id) WHERE staged IS NOT NULL;
            CREATE INDEX jobs_intending ON jobs(id) WHERE intent IS NOT NULL
            """),

        // `kept`: the originals and results that jobs have left in their final places. The rows of `kept` outlive the
        // rows of the jobs. `kept_sums` contains the totals. `leaving` is set before a file is removed.
        Migration(
            name: "kept files",
            """
            CREATE TABLE kept (
                id INTEGER PRIMARY KEY,
                job INTEGER NOT NULL,
                place TEXT NOT NULL,
                recipe TEXT NOT NULL,
                path TEXT NOT NULL,
                device INTEGER NOT NULL,
                inode INTEGER NOT NULL,
                size INTEGER NOT NULL,
                modified INTEGER NOT NULL,
                time REAL NOT NULL,
                leaving TEXT
            ) STRICT;

            CREATE INDEX kept_by_time ON kept(place, time);
            CREATE INDEX kept_by_job ON kept(job);
            CREATE INDEX kept_leaving ON kept(id) WHERE leaving IS NOT NULL;

            CREATE TABLE kept_sums (
                place TEXT PRIMARY KEY,
                files INTEGER NOT NULL,
                bytes INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            CREATE TRIGGER kept_file_came AFTER INSERT ON kept BEGIN
                INSERT INTO kept_sums VALUES (NEW.place, 1, NEW.size)
                    ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + NEW.size;
            END;
            CREATE TRIGGER kept_file_went AFTER DELETE ON kept BEGIN
                UPDATE kept_sums SET files = files - 1, bytes = bytes - OLD.size WHERE place = OLD.place;
            END;
            CREATE TRIGGER original_left AFTER UPDATE OF disposed ON jobs WHEN OLD.disposed = 1 AND NEW.disposed = 0 BEGIN
                DELETE FROM kept WHERE job = NEW.id AND place <> 'results';
            END;

            ALTER TABLE jobs ADD COLUMN removed TEXT;

            INSERT INTO kept (job, place, recipe, path, device, inode, size, modified, time)
                SELECT j.id, CASE j.state WHEN 'done' THEN 'archive' ELSE j.state END,
                    COALESCE(json_extract(o.body, '$.recipe'), ''), j.source, j.device, j.inode, j.size, j.modified, j.finished
                FROM jobs j JOIN orders o ON o.id = j.work
                WHERE j.state IN ('done', 'failed', 'cancelled') AND j.disposed = 1 AND j.returns IS NULL AND j.origin <> 'kept'
                    AND j.inode <> 0 AND j.finished IS NOT NULL AND instr(j.source, '/.pipelined/') = 0
                    AND instr(j.source, '/spool/') = 0
            """),

        // From this version on, `outputs` contains the identity of each result as well as its path. Older versions
        // can't read this form, and the new version number makes them refuse the ledger.
        Migration(name: "identities of results", ""),

        Migration(
            name: "an index that finds kept files when they are dropped again",
            "CREATE INDEX kept_by_change ON kept(modified) WHERE modified <> 0"),

        // `former`: during a redo, the work order that produced the results in the outbox. `goal`: the target folder
        // for the original of an undone job.
        Migration(
            name: "redo and undo",
            """
            ALTER TABLE jobs ADD COLUMN former INTEGER;
            ALTER TABLE jobs ADD COLUMN goal TEXT;
            CREATE INDEX jobs_redone ON jobs(former) WHERE former IS NOT NULL
            """),

        Migration(
            name: "an index of batches by name",
            "CREATE INDEX batches_by_name ON batches(name) WHERE name IS NOT NULL"),

        Migration(
            name: "faster conditions of three indexes",
            """
            DROP INDEX jobs_undisposed;
            DROP INDEX jobs_of_batch_undisposed;
            DROP INDEX jobs_on_way;
            CREATE INDEX jobs_undisposed ON jobs(id)
                WHERE disposed = 0 AND (state = 'done' OR state = 'failed' OR state = 'cancelled');
            CREATE INDEX jobs_of_batch_undisposed ON jobs(batch) WHERE batch IS NOT NULL AND disposed = 0
                AND (state = 'done' OR state = 'failed' OR state = 'cancelled');
            CREATE INDEX jobs_on_way ON jobs(batch) WHERE batch IS NOT NULL
                AND (state = 'waiting' OR state = 'queued' OR state = 'running' OR state = 'cancelling')
                AND hold IS NOT 'barrier' AND hold IS NOT 'after'
            """),

        // `marks` contains the highest IDs of deleted jobs and batches, because kept files, events and users may still
        // refer to these IDs. It also contains the latest time, in seconds, at which the daemon trusted the clock.
        Migration(
            name: "the highest IDs that were ever given",
            """
            CREATE TABLE marks (
                name TEXT PRIMARY KEY,
                value INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;

            INSERT INTO marks VALUES
                ('job', max(coalesce((SELECT MAX(job) FROM kept), 0), coalesce((SELECT MAX(job) FROM events), 0))), ('batch', 0);

            CREATE TRIGGER job_number_kept AFTER DELETE ON jobs BEGIN
                UPDATE marks SET value = OLD.id WHERE name = 'job' AND value < OLD.id;
            END;
            CREATE TRIGGER batch_number_kept AFTER DELETE ON batches BEGIN
                UPDATE marks SET value = OLD.id WHERE name = 'batch' AND value < OLD.id;
            END
            """),

        // The index `jobs_by_recipe` lets recipes take turns, and lets the batches of a recipe take turns.
        Migration(
            name: "turns of recipes and batches",
            """
            ALTER TABLE jobs ADD COLUMN recipe TEXT;
            UPDATE jobs SET recipe = (SELECT json_extract(body, '$.recipe') FROM orders WHERE id = work);
            CREATE INDEX jobs_by_recipe ON jobs(priority, recipe, coalesce(batch, 0), position)
                WHERE state = 'queued' AND (url IS NULL OR inode <> 0)
            """),

        Migration(
            name: "names, captions and credits of lists",
            "ALTER TABLE jobs ADD COLUMN texts TEXT"),

        // `owner`: the user who dropped or added the picture. Outside batches, the pictures of different users take
        // turns.
        Migration(
            name: "turns of users",
            """
            ALTER TABLE jobs ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
            DROP INDEX jobs_by_recipe;
            CREATE INDEX jobs_by_recipe ON jobs(priority, recipe, coalesce(batch, -1 - owner), position)
                WHERE state = 'queued' AND (url IS NULL OR inode <> 0)
            """),
    ]
}
