-- Newest stored message of each client. Its row is locked while messages of the client are stored.
create table if not exists positions (
    client bytea  primary key check (octet_length(client) = 16),
    epoch  bigint not null,
    newest bigint not null
);

create table if not exists messages (
    client  bytea,
    epoch   bigint,
    number  bigint,
    payload text not null,
    primary key (client, epoch, number)
);

create table if not exists refusals (
    client bytea,
    epoch  bigint,
    number bigint,
    reason bigint not null,
    primary key (client, epoch, number)
);
