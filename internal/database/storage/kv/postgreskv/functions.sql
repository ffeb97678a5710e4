-- The functions of a store. Whoever opens the store replaces them, so they have to serve the servers of earlier releases as well.
--
-- They keep to what CockroachDB and YugabyteDB document (docs/postgresql.md): loops are while, and what a function returns is assigned even where
-- nobody needs it, because perform is PostgreSQL's alone.

create or replace function sums(a bigint[], b bigint[]) returns bigint[] language sql immutable as $$
  select array(select coalesce(x, 0) + coalesce(y, 0) from unnest(a, b) as u(x, y));
$$;

-- go_on returns the first of 4096 numbers, or of no numbers the first to come. It holds the lock shared, so that nobody moves the numbers meanwhile.
create or replace function go_on(count int, number_lock bigint) returns bigint language plpgsql as $$
declare
  n bigint;
  held boolean;
begin
  held := pg_advisory_lock_shared(number_lock) is not null;
  if count = 0 then
    select last_value + 1 into n from numbers;
  else
    n := nextval('numbers') - 4095;
  end if;
  held := not pg_advisory_unlock_shared(number_lock);
  return n;
end $$;

-- draw returns the first of so many numbers, none of which is below floor or, where they are timed, some milliseconds before now. Of no
-- numbers it returns the first to come. Where the numbers lag, one draw moves them to the time, and those that come meanwhile wait for it together
-- and go on from there: if each of them moved the numbers, they would stand in a line that is longer than the time in which they lag again.
create or replace function draw(floor bigint, count int, number_lock bigint, timed boolean) returns bigint language plpgsql as $$
declare
  lowest bigint := floor;
  goes_on boolean := count = 0 or timed and count <= 4096;
  size bigint := (count + 63) & -64; -- whole blocks
  n bigint;
  held boolean;
begin
  if timed then
    lowest := greatest(floor, ((extract(epoch from clock_timestamp()) * 1000)::bigint - 8) << 18);
  end if;
  if count = 0 then
    select last_value + 1 into n from numbers;
  elsif goes_on then
    n := go_on(count, number_lock);
  end if;
  if n >= lowest then
    return n;
  end if;
  if not pg_try_advisory_lock(number_lock) then
    if goes_on then
      n := go_on(count, number_lock);
      if n >= lowest then
        return n;
      end if;
    end if;
    held := pg_advisory_lock(number_lock) is not null;
    if goes_on then
      n := go_on(count, number_lock);
      if n >= lowest then
        held := not pg_advisory_unlock(number_lock);
        return n;
      end if;
    end if;
  end if;
  if timed then
    lowest := greatest(floor, (extract(epoch from clock_timestamp()) * 1000)::bigint << 18);
  end if;
  select (greatest(last_value + 1, lowest) + 63) & -64 into n from numbers;
  n := setval('numbers', n + size - 1) - size + 1;
  held := not pg_advisory_unlock(number_lock);
  return n;
end $$;

-- hold takes the locks of an update in their order and returns 0, or the place of the first one at which it met a transaction. Beside each
-- lock there is another one, the mark, that transactions hold shared. Nobody else takes a mark, not even to try: two updates that try at once would
-- take each other for a transaction. A transaction that only checks a key is not in the way of others that do: they wait for someone who is to
-- write it next.
create or replace function hold(locks bigint[], exclusive boolean[], mark bigint, transaction boolean, fail boolean) returns int language plpgsql as $$
declare
  i int := 0;
  got boolean;
begin
  while i < coalesce(array_length(locks, 1), 0) loop
    i := i + 1;
    if transaction then
      got := pg_advisory_xact_lock_shared(locks[i] | mark) is not null;
    end if;
    got := false;
    if fail then
      if exclusive[i] then
        got := pg_try_advisory_xact_lock(locks[i]);
      else
        got := pg_try_advisory_xact_lock_shared(locks[i]);
      end if;
      if not got then -- on its own: PL/pgSQL would start the query even if it got the lock
        if exists (
          select 1 from pg_locks m where m.locktype = 'advisory' and m.objsubid = 1 and m.pid <> pg_backend_pid()
            and m.database = (select oid from pg_database where datname = current_database())
            and m.classid::bigint << 32 | m.objid::bigint = locks[i] | mark
            and (exclusive[i] or exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.objsubid = 1 and l.pid = m.pid
              and l.database = m.database and l.classid::bigint << 32 | l.objid::bigint = locks[i] and l.mode = 'ExclusiveLock'))
        ) then
          return i;
        end if;
      end if;
    end if;
    if not got then
      if exclusive[i] then
        got := pg_advisory_xact_lock(locks[i]) is not null;
      else
        got := pg_advisory_xact_lock_shared(locks[i]) is not null;
      end if;
    end if;
  end loop;
  return 0;
end $$;

-- begin_update holds what an update names, and returns a number that divides the logs, at or above floor.
create or replace function begin_update(
  locks bigint[], exclusive boolean[], mark bigint, transaction boolean, fail boolean, floor bigint, number_lock bigint, timed boolean,
  out met int, out number bigint
) language plpgsql as $$
begin
  met := hold(locks, exclusive, mark, transaction, fail);
  if met = 0 then
    number := draw(floor, 0, number_lock, timed);
  end if;
end $$;

-- append_log appends records under numbers that it draws. Before that it says, to whoever reads logs, above which number they will be.
create or replace function append_log(logs bigint[], records bytea[], floor bigint, append_lock bigint, number_lock bigint, timed boolean) returns void language plpgsql as $$
declare
  first bigint;
  held boolean;
begin
  held := pg_advisory_xact_lock_shared(append_lock | (select last_value >> 6 from numbers)) is not null;
  first := draw(floor, array_length(logs, 1), number_lock, timed);
  insert into log (log, seq, data) select l, first + i - 1, r from unnest(logs, records) with ordinality as u(l, r, i);
end $$;
