-- What a store keeps in its schema, version 1. Package postgreskv explains it. Its functions are in functions.sql, and how PostgreSQL is to
-- store values in storage.sql.

create table meta (version int not null);
insert into meta values (1);

create table kv (
  p bytea not null,
  k bytea not null,
  v bytea,
  flags smallint not null default 0,
  primary key (p, k)
) with (fillfactor = 85);
create index kv_branches on kv (p, k) where flags & 1 <> 0;

create table kept_kv (
  p bytea not null,
  k bytea not null,
  v bytea,
  flags smallint not null default 0,
  primary key (p, k)
);
create index kept_branches on kept_kv (p, k) where flags & 1 <> 0;

create table kept (id bigint generated always as identity, name text primary key, bytes bigint not null);

create table counters (
  k bytea not null,
  shard int not null,
  n bigint[] not null,
  primary key (k, shard)
) with (fillfactor = 50);

create table log (
  log bigint not null,
  seq bigint not null,
  data bytea not null,
  primary key (log, seq)
);
create table kept_log (
  kept bigint not null,
  log bigint not null,
  seq bigint not null,
  data bytea not null,
  primary key (kept, log, seq)
);
create table trimmed (log bigint primary key, seq bigint not null);

-- Numbers: the last that was drawn. They are drawn in whole blocks of 64.
create sequence numbers minvalue 4095 increment by 4096 cache 1;
