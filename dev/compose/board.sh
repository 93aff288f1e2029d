#!/bin/sh
# Prints every five seconds what has arrived in the database that DATABASE_URL names.
psql --quiet --no-align --tuples-only "$DATABASE_URL" <<'SQL'
SELECT format('%s delayed flights in the database, %s of them twice; the latest: %s, %s minutes',
              count(*), count(*) - count(DISTINCT event_id), (array_agg(route ORDER BY ctid DESC))[1], (array_agg(minutes ORDER BY ctid DESC))[1])
  FROM delays \watch 5
SQL
