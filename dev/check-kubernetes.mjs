/**
 * `npm run check:kubernetes`: holds config/kubernetes against the schemas of Kubernetes' API, which the Python package
 * kubernetes-validate carries. Where it can't be installed, this says so and fails; with `--if-possible` it only says so.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { onPath, run } from './setup/system.mjs';

const PACKAGE = 'kubernetes-validate==1.37.0';
/** The oldest and the newest that the manifests are for. */
const KUBERNETES = ['1.29', '1.37'];
const INSTALL_TIMEOUT_MS = 120_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const python = join(root, '.cache', PACKAGE.replace('==', '-'), 'bin');
const config = join(root, 'config');

/** Gives why it is not there, or null. */
function provideValidator() {
  const validator = join(python, 'kubernetes-validate');
  if (existsSync(validator)) return null;
  if (!onPath('python3')) return 'there is no Python on this machine';
  const install = ['install', '--quiet', '--disable-pip-version-check', PACKAGE];
  const made = run('python3', ['-m', 'venv', join(python, '..')], { timeoutMs: INSTALL_TIMEOUT_MS });
  const { ok, output } = made.ok ? run(join(python, 'pip'), install, { timeoutMs: INSTALL_TIMEOUT_MS }) : made;
  if (!ok) return `${PACKAGE} can not be installed: ${output.trim().split('\n').at(-1)}`;
  return null;
}

/** @param {string} folder for what is made on the way */
function manifests(folder) {
  const plain = readdirSync(join(config, 'kubernetes')).map((file) => join(config, 'kubernetes', file));
  if (!onPath('kubectl')) return plain;
  // As it is applied: with the ConfigMap, and the names that depend on its content.
  const { ok, output } = run('kubectl', ['kustomize', config]);
  if (!ok) throw new Error(`kubectl kustomize config: ${output}`);
  writeFileSync(join(folder, 'kustomized.yaml'), output);
  return [...plain, join(folder, 'kustomized.yaml')];
}

function checkKubernetes() {
  const why = provideValidator();
  if (why !== null) {
    const isOptional = process.argv.includes('--if-possible');
    console.log(`Kubernetes manifests: not checked: ${why}`);
    return isOptional ? 0 : 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'millrace-kubernetes-'));
  try {
    const files = manifests(folder);
    for (const version of KUBERNETES) {
      const args = ['--strict', '--quiet', '--kubernetes-version', version, ...files];
      const { ok, output } = run(join(python, 'kubernetes-validate'), args);
      if (!ok) throw new Error(`Kubernetes ${version}:\n${output}`);
    }
    console.log(`Kubernetes manifests: ${files.length} files as Kubernetes ${KUBERNETES.join(' and ')} have them`);
    return 0;
  } catch (error) {
    console.log(`Kubernetes manifests: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

process.exitCode = checkKubernetes();
