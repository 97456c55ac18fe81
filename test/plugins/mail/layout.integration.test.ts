import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { renderHtml } from '../../../plugins/mail/layout.ts';
import { launchBrowser, narrow, sidewaysOverflow, type TestBrowser } from '../../support/browser.ts';

vi.setConfig({ hookTimeout: 120_000 });

let browser: TestBrowser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
});

const long = `https://ai.example.com/accepted/${'a1b2c3d4'.repeat(8)}`;
const content = {
  language: 'id',
  service: 'Daypass',
  subject: 'Pembayaran diterima',
  greeting: 'Halo Rani,',
  paragraphs: ['Pembayaran diterima.'],
  facts: [['Ketentuan yang disetujui', 'versi 2026-11-29']] as [string, string][],
  action: { label: 'Lihat', url: 'https://ai.example.com/' },
  closing: ['Daypass'],
};

it.each([
  ['a fact', { facts: [...content.facts, ['Ketentuan', long]] as [string, string][] }],
  ['a paragraph', { paragraphs: [long] }],
  ['the greeting', { greeting: 'x'.repeat(90) }],
  ['a linked closing line', { closing: [`Berhenti berlangganan: ${long}`], links: [{ text: long, url: long }] }],
])('a long address in %s makes a mail no wider than a phone, and breaks no label', async (_, more) => {
  await using window = await browser.open(narrow);
  await window.page.setContent(renderHtml({ ...content, ...more }));
  expect(await sidewaysOverflow(window.page)).toBe(0);
  const label = await window.page.locator('td').first().boundingBox();
  expect(label?.width).toBeGreaterThan(80);
});
