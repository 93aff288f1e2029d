#!/usr/bin/env bash
# Sends made-up flights to the topic that config/flights.yaml reads, 50 a second: feed.sh HOST:PORT
set -euo pipefail
flights=6000

flights() {
  awk -v flights="$flights" 'BEGIN {
    srand(1)
    airports = split("ATL BOS DEN DFW JFK LAX ORD SEA SFO", airport)
    for (i = 0; i < flights; i++) {
      origin = airport[1 + int(rand() * airports)]
      # Now and then it is the same one: an aircraft that turned back, which the transform leaves out.
      destination = airport[1 + int(rand() * airports)]
      date = sprintf("2001/%02d/%02d %02d:%02d", 1 + int(i / 500), 1 + int(i / 18) % 28, 6 + int(rand() * 16), int(rand() * 60))
      # Most are a few minutes early, some are very late.
      delay = int(-10 + 60 * rand() ^ 4 + 10 * rand())
      # Every 200th is no flight, and becomes a dead letter.
      if (i % 200 == 199) delay = "\"unknown\""
      printf "%s\t{\"date\":\"%s\",\"delay\":%s,\"distance\":%d,\"origin\":\"%s\",\"destination\":\"%s\"}\n",
        origin, date, delay, 200 + int(rand() * 2500), origin, destination
      if (i % 50 == 49) { fflush(); system("sleep 1") }
    }
  }'
}

flights | /opt/kafka/bin/kafka-console-producer.sh --bootstrap-server "$1" --topic flights \
  --property parse.key=true --property key.separator=$'\t'
echo "$flights flights sent"
