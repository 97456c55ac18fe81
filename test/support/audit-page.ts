import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserWindow } from './browser.ts';

/** Texts do not affect contrast and colors do not affect widths, so two views are enough. */
export interface PageView {
  readonly language: 'en' | 'id';
  readonly theme: 'light' | 'dark';
}

export interface AuditOptions {
  readonly views?: readonly PageView[];
  readonly widths?: readonly number[]; // of windows, px, in none of which the page may be wider
  /** Those widths at which axe also runs, which takes half a second. Default: a laptop in the first view, a phone in the second. */
  readonly axeWidths?: readonly number[];
  /** Called for each view once the page has loaded, before the audit: to open a dialog or wait for a row. */
  prepare?(): Promise<void>;
}

const defaultViews: readonly PageView[] = [
  { language: 'en', theme: 'light' },
  { language: 'id', theme: 'dark' },
];

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']; // WCAG 2.2 AA and axe's own

const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Tables that scroll sideways, or contain a number, time or state that is cut off. */
const wideTables = `[
  ...[...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => 'the table "' + one.innerText.slice(0, 40) + '" is ' + (one.scrollWidth - one.clientWidth) + ' px too wide'),
  ...[...document.querySelectorAll('td.number, td time, td > .status')].filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
    .map((one) => 'cut: ' + one.textContent),
]`;

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Loads a page in a window and finds its faults: what axe finds, including contrast and targets under 24 px; sideways scrolling; violations
 * of the content security policy, script errors and missing files.
 *
 * @returns one line per fault, which says how the page was viewed
 */
export async function auditPage(
  window: BrowserWindow,
  url: string,
  { views = defaultViews, widths = [320, 360, 1280], axeWidths, prepare }: AuditOptions = {},
): Promise<string[]> {
  const { page, complaints } = window;
  const wrong: string[] = [];
  const complaintsBefore = complaints.length;
  const viewport = page.viewportSize();
  // Removes animations, during which elements are half visible.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const [index, { language, theme }] of views.entries()) {
    const looked = axeWidths ?? [index === 0 ? 1280 : 360];
    await page.setExtraHTTPHeaders({ 'accept-language': language });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.goto(url);
    await prepare?.();
    for (const width of widths) {
      const seen = `${new URL(page.url()).pathname} ${language} ${theme} ${width}px`;
      await page.setViewportSize({ width, height: width < 600 ? 740 : 800 });
      const { excess, tables } = await measure(page);
      if (excess > 0) wrong.push(`${seen}: ${excess} px wider than the window`);
      wrong.push(...tables.map((line) => `${seen}: ${line}`));
      if (looked.includes(width)) wrong.push(...(await runAxe(window)).map((line) => `${seen}: ${line}`));
    }
  }
  await page.setExtraHTTPHeaders({});
  if (viewport !== null) await page.setViewportSize(viewport);
  return [...wrong, ...complaints.slice(complaintsBefore).map((line) => `${url}: ${line}`)];
}

interface Measured {
  readonly excess: number; // px by which the page is wider than its window
  readonly tables: readonly string[];
}

/** One call measures everything, because thousands of windows are measured. */
async function measure(page: BrowserWindow['page']): Promise<Measured> {
  const look = async () => (await page.evaluate(`({ excess: ${overflow}, tables: ${wideTables} })`)) as Measured;
  const first = await look();
  if (first.excess <= 0) return first;
  // A chart adapts to the window a moment later.
  await page.waitForFunction(`${overflow} <= 0`, undefined, { timeout: 1_000 }).catch(() => undefined);
  return look();
}

async function runAxe({ page }: BrowserWindow): Promise<string[]> {
  // axe is loaded as a debugger expression, because the page's content security policy rejects it as a script.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(await axeSource);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`;
  const { violations } = (await page.evaluate(run)) as AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary = '' }) => {
      const why = failureSummary.split('\n').slice(1, 3).join(' ').replaceAll(/\s+/g, ' ').trim();
      return `${id}: ${help}: ${html.slice(0, 160)} (${why})`;
    }),
  );
}
