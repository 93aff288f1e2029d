import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

import { findChromium } from '../../dev/setup/chromium.mjs';

/** A Chromium that is installed on the machine; it talks to nobody but the pages it is given. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error('these tests need Chromium: apt-get install chromium, or set CHROME_PATH');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}

/** What axe-core finds wrong with a page and calls serious or critical. */
export async function barriersIn(page: Page): Promise<string[]> {
  // Past the page's content security policy, which lets nothing else in.
  await page.evaluate(`(() => { ${axe.source} })()`);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join('; ')})`);
}
