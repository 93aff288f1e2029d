import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { loadPipeline } from '../../src/load-flow.ts';
import { createLogger } from '../../src/observability/logger.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const yaml = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));

type Probe = 'startupProbe' | 'livenessProbe' | 'readinessProbe';

interface Pod {
  terminationGracePeriodSeconds: number;
  containers: [
    {
      args: string[];
      ports: [{ name: string; containerPort: number }];
      volumeMounts: [{ mountPath: string }, { mountPath: string }];
    } & Record<Probe, { httpGet: { path: string; port: string } }>,
  ];
  volumes: [{ configMap: { items: { key: string; path: string }[] } }, object];
}

const pod = (yaml('config/kubernetes/stateful-set.yaml') as { spec: { template: { spec: Pod } } }).spec.template.spec;
const [container] = pod.containers;

/** Lays out the files of a pod in a folder, and loads its configuration from there. */
function loadInPod() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-pod-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [config, secrets] = container.volumeMounts.map(({ mountPath }) => join(folder, mountPath)) as [string, string];
  const { configMapGenerator } = yaml('config/kustomization.yaml') as { configMapGenerator: [{ files: string[] }] };
  for (const { key, path } of pod.volumes[0].configMap.items) {
    const source = configMapGenerator[0].files.find((file) => basename(file) === key);
    mkdirSync(dirname(join(config, path)), { recursive: true });
    copyFileSync(join(root, 'config', source ?? `${key} is not in the ConfigMap`), join(config, path));
  }
  mkdirSync(secrets, { recursive: true });
  const { stringData } = yaml('config/kubernetes/secret.example.yaml') as { stringData: Record<string, string> };
  // In the place of the example's, a certificate that is one.
  const content = (file: string) => (file === 'ca.pem' ? rootCertificates[0] : stringData[file]) ?? '';
  for (const file of Object.keys(stringData)) writeFileSync(join(secrets, file), content(file));

  const file = join(dirname(config), container.args[1] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/run/secrets', join(folder, '/run/secrets')));
  return loadConfig(file, { hostname: 'flights-0' });
}

it('a pod of config/kubernetes has all files that its configuration names', async () => {
  const config = loadInPod();
  expect(config.instance).toBe('flights-0');
  const logger = createLogger({ ...config, log: { level: 'error', format: 'json' } });
  for (const pipeline of config.pipelines) await loadPipeline(pipeline, logger);
  expect(config.secrets).toContain('change-me');
});

it('a pod of config/kubernetes is asked where it answers, and is given longer than its own grace', () => {
  const { http, shutdown } = loadInPod();
  const [port] = container.ports;
  expect(port.containerPort).toBe(http.port);
  for (const [probe, path] of Object.entries({
    startupProbe: '/live',
    livenessProbe: '/live',
    readinessProbe: '/ready',
  } satisfies Record<Probe, string>))
    expect(container[probe as Probe].httpGet).toEqual({ path, port: port.name });
  expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(shutdown.graceMs);
});

it('config/flights-kubernetes.yaml has the pipelines of config/flights.yaml', () => {
  const pipeline = (file: string) =>
    (yaml(file) as { pipelines: { 'route-flights': object } }).pipelines['route-flights'];
  // There it is pods that are added, not workers of one.
  expect({ ...pipeline('config/flights-kubernetes.yaml'), workers: 2 }).toEqual(pipeline('config/flights.yaml'));
});

it('docker-compose.yml gives containers longer than their own grace', () => {
  const compose = yaml('docker-compose.yml') as { 'x-millrace': { stop_grace_period: string } };
  const { graceMs } = loadConfig(join(root, 'config/flights.yaml')).shutdown;
  expect(parseInt(compose['x-millrace'].stop_grace_period) * 1_000).toBeGreaterThan(graceMs);
});
