/** The status page: asks `/overview` every few seconds and shows what it says. */
import type { Counts, FlowOverview, Overview, PartitionOverview, Sample } from './overview.ts';

const EVERY_MS = 5_000;
/** A process that takes longer than this to answer is as good as silent. */
const ANSWER_MS = 4_000;
const HEIGHT = 30;

const full = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

type Child = Node | string;

/** An element with these attributes and children. A text is a text, never HTML. */
function element(name: string, attributes: Readonly<Record<string, string>> = {}, ...children: Child[]): HTMLElement {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

type Mood = 'good' | 'bad' | 'calm';

const badge = (text: string, mood: Mood): HTMLElement => element('span', { class: `badge ${mood}` }, text);

/** A line through values (null where nothing is known) over the time of the samples. */
function plot(title: string, values: readonly (number | null)[], unit: string, seconds: number): HTMLElement {
  const known = values.filter((value) => value !== null);
  const most = Math.max(0, ...known);
  const last = known.at(-1);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.flatMap((value, index) => {
    if (value === null) return [];
    const y = HEIGHT - 1 - ((HEIGHT - 2) * value) / (most || 1);
    return [`${(index * step).toFixed(2)},${y.toFixed(2)}`];
  });
  const minutes = Math.max(1, Math.round(seconds / 60));
  return element(
    'div',
    { class: 'plot' },
    element('h3', {}, title),
    element('p', { class: 'value' }, last === undefined ? 'not known yet' : `${short.format(last)} ${unit}`),
    lineThrough(points),
    element('p', { class: 'most' }, `most within ${minutes} min: ${short.format(most)}`),
  );
}

/** Its words stand beside it, so readers of screens pass it by. */
function lineThrough(points: readonly string[]): SVGElement {
  const svg = (name: string, attributes: Readonly<Record<string, string>>): SVGElement => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    return made;
  };
  const frame = svg('svg', { viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  frame.append(svg('polyline', { points: points.join(' ') }));
  return frame;
}

/** What came in a second, between each sample and the one before. A count that fell has begun anew: not known. */
function committedRates(samples: readonly Sample[], flow: string): (number | null)[] {
  return samples.slice(1).map((sample, index) => {
    const before = samples[index];
    const from = before?.flows[flow]?.committed;
    const to = sample.flows[flow]?.committed;
    if (!before || from === undefined || to === undefined || to < from) return null;
    return ((to - from) * 1_000) / (sample.at - before.at);
  });
}

function counts(title: string, found: Counts, none: string): HTMLElement {
  const lines = Object.entries(found)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${full.format(count)} ${what}`);
  const shown = lines.length > 0 ? lines : [none];
  return element(
    'div',
    {},
    element('h3', {}, title),
    element('ul', {}, ...shown.map((line) => element('li', {}, line))),
  );
}

function partitionRow({ topic, partition, worker, committed, lag, held }: PartitionOverview): HTMLElement {
  const numeric = { class: 'number' };
  return element(
    'tr',
    {},
    element('td', {}, `${topic}-${partition}`),
    element('td', {}, String(worker)),
    element('td', numeric, committed === null ? 'none yet' : full.format(committed)),
    element('td', numeric, lag === null ? 'not known yet' : full.format(lag)),
    held === null ? element('td', {}, 'moves on') : element('td', { class: 'held' }, `held at ${held}`),
  );
}

function partitionTable(partitions: readonly PartitionOverview[]): HTMLElement {
  if (partitions.length === 0) return element('p', {}, 'This instance holds no partitions.');
  const head = (text: string, kind: string) => element('th', { scope: 'col', class: kind }, text);
  return element(
    'table',
    {},
    element('caption', {}, 'Partitions that this instance holds'),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        head('Partition', ''),
        head('Worker', ''),
        head('Committed offset', 'number'),
        head('Lag', 'number'),
        head('State', ''),
      ),
    ),
    element('tbody', {}, ...partitions.map(partitionRow)),
  );
}

function flowSection(flow: FlowOverview, samples: readonly Sample[]): HTMLElement {
  const { name, kind, guarantee, route, ready, states, reasons, partitions, totals } = flow;
  const seconds = ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 1_000;
  const lags = samples.map((sample) => sample.flows[name]?.lag ?? null);
  return element(
    'section',
    { class: 'flow' },
    element(
      'div',
      { class: 'title' },
      element('h2', {}, name),
      badge(ready ? 'ready' : 'not ready', ready ? 'good' : 'bad'),
      badge(states.join(', '), 'calm'),
      element('span', { class: 'guarantee' }, `${kind}: ${guarantee}`),
    ),
    element('p', { class: 'route' }, route),
    ...(reasons.length === 0
      ? []
      : [element('ul', { class: 'reasons' }, ...reasons.map((reason) => element('li', {}, reason)))]),
    element(
      'div',
      { class: 'plots' },
      plot('Records committed', committedRates(samples, name), 'a second', seconds),
      plot('Lag', lags, 'records', seconds),
    ),
    element(
      'div',
      { class: 'counts' },
      counts('Transactions', totals.transactions, 'none yet'),
      counts('Dead letters', totals.deadLetters, 'none'),
      counts('Producer replaced', totals.recycles, 'never'),
      counts('Worker restarts', totals.restarts, 'none'),
    ),
    // On a narrow screen it scrolls, by the keyboard, too.
    element(
      'div',
      { class: 'partitions', tabindex: '0', role: 'region', 'aria-label': `Partitions of ${name}` },
      partitionTable(partitions),
    ),
  );
}

function show({ application, instance, version, startedAt, flows, samples }: Overview): void {
  document.title = `${application}: Millrace`;
  byId('application').textContent = application;
  byId('identity').textContent =
    `instance ${instance}, version ${version}, since ${new Date(startedAt).toLocaleString('en')}`;
  const isReady = flows.every(({ ready }) => ready);
  showOverall(isReady ? 'ready' : 'not ready', isReady ? 'good' : 'bad');
  keepingPlace(() => {
    byId('flows').replaceChildren(...flows.map((flow) => flowSection(flow, samples)));
  });
}

/** What is drawn anew keeps the keyboard's focus, and its tables stay where they were scrolled to. */
function keepingPlace(draw: () => void): void {
  const regions = () => [...document.querySelectorAll<HTMLElement>('[role=region]')];
  const places = regions().map((region) => ({
    scrollLeft: region.scrollLeft,
    isFocused: region === document.activeElement,
  }));
  draw();
  regions().forEach((region, index) => {
    const place = places[index];
    if (!place) return;
    region.scrollLeft = place.scrollLeft;
    if (place.isFocused) region.focus({ preventScroll: true });
  });
}

/** Readers of screens say it aloud whenever it changes, so it changes only where it differs. */
function showOverall(text: string, mood: Mood): void {
  const place = byId('overall');
  if (place.textContent !== text) place.replaceChildren(badge(text, mood));
}

async function refresh(): Promise<void> {
  try {
    const answer = await fetch('/overview', { signal: AbortSignal.timeout(ANSWER_MS) });
    if (!answer.ok) throw new Error(`/overview answered ${answer.status}`);
    show((await answer.json()) as Overview);
  } catch {
    showOverall('does not answer: what stands below is old', 'bad');
  }
  setTimeout(() => void refresh(), EVERY_MS);
}

void refresh();
