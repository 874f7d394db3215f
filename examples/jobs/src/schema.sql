-- A job: text that `perform` understands.
create table if not exists jobs (
    id       bigint      generated always as identity primary key,
    payload  text        not null,
    state    text        not null default 'ready' check (state in ('ready', 'done', 'failed')),
    -- Attempts that have ended, with or without success.
    attempts integer     not null default 0,
    -- When the next attempt may begin.
    due      timestamptz not null default now(),
    -- Why the newest attempt failed.
    error    text
);

create index if not exists ready_jobs on jobs (due, id) where state = 'ready';

-- Effects of jobs. WHY no unique key: a job that had its effect twice would be seen.
create table if not exists ledger (
    job    bigint not null references jobs,
    result text   not null
);
