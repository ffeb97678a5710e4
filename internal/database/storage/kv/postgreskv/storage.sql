-- Values go to PostgreSQL's own place for large ones without being compressed. Other servers may have no such setting.
alter table kv alter column v set storage external;
alter table kept_kv alter column v set storage external;
alter table log alter column data set storage external;
alter table kept_log alter column data set storage external;
