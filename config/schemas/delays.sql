-- For config/flights-effects.yaml. Nothing here keeps the same event from being stored twice: the table of processed events does.
CREATE TABLE delays (
  event_id text NOT NULL,
  route text NOT NULL,
  departure timestamp NOT NULL, -- local time at the origin
  minutes integer NOT NULL
);
