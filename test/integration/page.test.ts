import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { barriersIn, startBrowser } from '../helpers/browser.ts';
import { it } from '../helpers/rig.ts';
import { startScenario } from '../helpers/scenario.ts';
import { workload } from '../helpers/workload.ts';

/** Where to leave what the page looked like, for somebody to look at. */
const SCREENSHOTS = process.env['MILLRACE_SCREENSHOTS'];

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 375, height: 800 };

const text = (page: Page, selector: string) => page.locator(selector).allInnerTexts();

it('shows at a glance how things stand, on a desktop and on a phone, with no serious barrier', async ({ rig }) => {
  const run = await startScenario(rig, { pipeline: { workers: 2 } });
  const processor = await run.startReady('a');
  const feed = run.seeder.feed(workload(), 200);
  await run.untilCommitted(1_000);

  const browser = await startBrowser();
  rig.onEnd(() => browser.close());
  const page = await browser.newPage({ viewport: DESKTOP });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('requestfailed', (request) => errors.push(request.url()));
  await page.goto(processor.url('/'));
  await page.getByText('PoisonRecord').waitFor();
  await page.locator('.plot polyline[points*=" "]').first().waitFor();

  expect(await text(page, '#overall')).toEqual(['ready']);
  expect(await text(page, 'h2')).toEqual(['p']);
  expect(await text(page, '.guarantee')).toEqual(['pipeline: exactly once, for readers with read_committed']);
  expect(await text(page, 'tbody td:first-child')).toEqual(
    [0, 1, 2, 3].map((partition) => `${run.input}-${partition}`),
  );
  expect(new Set(await text(page, 'tbody td:nth-child(2)'))).toEqual(new Set(['0', '1']));
  expect((await text(page, '.counts')).join()).toMatch(/\d+ committed/);

  for (const [name, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      expect(await barriersIn(page), `${name}, ${colorScheme}`).toEqual([]);
      if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`), fullPage: true });
    }
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(isTooWide, `${name} scrolls sideways`).toBe(false);
  }
  expect(errors).toEqual([]);

  await feed.stop();
  await processor.kill();
  await page.getByText('does not answer').waitFor();
});

it('says why a partition can not go on', async ({ rig }) => {
  const run = await startScenario(rig, { pipeline: { deadLetter: undefined } });
  const processor = await run.startReady('a');
  await run.seeder.send(Array.from({ length: 40 }, workload()));
  await processor.until('the partition to be held', async () => (await processor.readiness())?.status === 503);

  const browser = await startBrowser();
  rig.onEnd(() => browser.close());
  const page = await browser.newPage();
  await page.goto(processor.url('/'));
  await page.locator('td.held').first().waitFor();
  expect(await text(page, '#overall')).toEqual(['not ready']);
  expect((await text(page, '.reasons li'))[0]).toMatch(/is held at offset \d+/);
  expect(await barriersIn(page)).toEqual([]);
});
