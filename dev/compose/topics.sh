#!/usr/bin/env bash
# Creates the topics of config/flights.yaml and config/flights-effects.yaml where they are missing: topics.sh HOST:PORT
set -euo pipefail
for topic in flights flights.on-time flights.delayed flights.dead-letters flights.delayed.dead-letters; do
  /opt/kafka/bin/kafka-topics.sh --bootstrap-server "$1" --create --if-not-exists --topic "$topic" \
    --partitions 4 --replication-factor 1
done
