-- Run once by the image of PostgreSQL, when the volume is empty: the role of monotable, which owns its database and is no superuser.
\set password `cat /run/secrets/postgres-password`
create role monotable login password :'password';
create database monotable owner monotable;
