import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  googlePerson,
  newGitHubUser,
  type SignInGateway,
  startSignInGateway,
} from '../plugins/sign-in/provider-fixture.ts';
import { type BrowserWindow, launchBrowser, narrow, sidewaysOverflow, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

let browser: TestBrowser;
let here: SignInGateway;
let local: TestGateway;

beforeAll(async () => {
  [browser, here, local] = await Promise.all([
    launchBrowser(),
    startSignInGateway(),
    startGateway({ yaml: yamlFor('http://127.0.0.1:9') }),
  ]);
}, 120_000);
afterEach(() => {
  here.google.fault = undefined;
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await Promise.all([here?.[Symbol.asyncDispose](), local?.[Symbol.asyncDispose]()]);
});

async function signInLocally({ page }: BrowserWindow, email: string): Promise<void> {
  await page.goto(`${local.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.locator('main form button').click();
  await page.waitForURL('**/account/key');
}

async function signInWithGoogle({ page }: BrowserWindow): Promise<void> {
  await page.goto(`${here.gateway.url}/sign-in`);
  await page.getByRole('link', { name: 'Continue with Google' }).click();
  await page.waitForURL('**/account/key');
}

async function showKey(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show key' }).click();
  return page.locator('#key').innerText();
}

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
}

describe('in a browser', () => {
  it.each([true, false])('a reader signs in with Google and gets a key, JavaScript: %s', async (javaScriptEnabled) => {
    here.google.person = googlePerson();
    await using window = await browser.open({ javaScriptEnabled });
    await signInWithGoogle(window);
    expect(await statusOf(here.gateway.url, await showKey(window.page))).not.toBe(401);
    expect(window.complaints).toEqual([]);
  });

  it('a reader adds GitHub to an account of Google', async () => {
    here.google.person = googlePerson();
    newGitHubUser(here.github);
    await using window = await browser.open();
    await signInWithGoogle(window);
    await window.page.goto(`${here.gateway.url}/account/sign-ins`);
    await window.page.getByRole('button', { name: 'Add GitHub' }).click();
    await window.page.getByRole('link', { name: 'Continue with GitHub' }).click();
    await window.page.getByText('The sign-in was added.').waitFor();
    expect(await window.page.locator('strong', { hasText: 'GitHub' }).count()).toBe(1);
    expect(window.complaints).toEqual([]);
  });

  it('a reader who cancels at Google can try again', async () => {
    here.google.person = googlePerson();
    here.google.fault = 'cancelled';
    await using window = await browser.open();
    await window.page.goto(`${here.gateway.url}/sign-in`);
    await window.page.getByRole('link', { name: 'Continue with Google' }).click();
    await window.page.getByText('Sign-in was cancelled.').waitFor();
    here.google.fault = undefined;
    await window.page.getByRole('link', { name: 'Continue with Google' }).click();
    await window.page.waitForURL('**/account/key');
  });

  it('a reader signs in locally, rotates the key, and the old one is refused', async () => {
    await using window = await browser.open();
    await signInLocally(window, 'rotate@example.com');
    const old = await showKey(window.page);
    await window.page.goto(`${local.url}/account/key`);
    await window.page.getByRole('link', { name: 'Rotate key' }).click();
    const question = window.page.getByRole('dialog', {
      name: 'Rotate the key? The old key stops working immediately.',
    });
    expect(await question.getByRole('link', { name: 'Cancel' }).evaluate((link) => link.matches(':focus'))).toBe(true);
    await question.getByRole('button', { name: 'Rotate key' }).click();
    await window.page.getByText('The old key no longer works.').waitFor();
    const fresh = await window.page.locator('#key').innerText();
    expect(fresh).not.toBe(old);
    await expect.poll(() => statusOf(local.url, old)).toBe(401);
    expect(await statusOf(local.url, fresh)).not.toBe(401);
    expect(window.complaints).toEqual([]);
  });

  it('a reader signs out everywhere', async () => {
    await using one = await browser.open();
    await signInLocally(one, 'everywhere@example.com');
    await using other = await browser.open();
    await other.page.goto(`${local.url}/sign-in`);
    await other.page.getByLabel('E-mail').fill('everywhere@example.com');
    await other.page.locator('main form button').click();
    await other.page.goto(`${local.url}/account/sign-ins`);
    await other.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await other.page.waitForURL('**/sign-in');
    await one.page.goto(`${local.url}/account/key`);
    expect(new URL(one.page.url()).pathname).toBe('/sign-in');
  });

  it('a key is not shown by the back button after signing out', async () => {
    await using window = await browser.open();
    await signInLocally(window, 'back@example.com');
    const key = await showKey(window.page);
    await window.page.locator('summary.avatar').click();
    await window.page.getByRole('button', { name: 'Sign out' }).click();
    await window.page.waitForURL(`${local.url}/`);
    await window.page.goBack().catch(() => undefined);
    await expect.poll(() => window.page.content().catch(() => key)).not.toContain(key);
  });

  it.each(['en-GB', 'id-ID'])('nothing scrolls sideways on a phone of 360 px in %s', async (locale) => {
    here.google.person = googlePerson({ name: `${'Nama yang sangat panjang '.repeat(4)}${'x'.repeat(40)}` });
    await using window = await browser.open({ ...narrow, locale });
    const { page } = window;
    const overflows: Record<string, number> = {};
    const measure = async (name: string) => {
      overflows[name] = await sidewaysOverflow(page);
    };
    await page.goto(`${here.gateway.url}/sign-in?error=email_taken`);
    await measure('sign-in');
    await page.locator('main a.button').first().click();
    await page.waitForURL('**/account/key');
    await measure('key');
    await page.locator('main form button').first().click();
    await page.locator('#key').waitFor();
    await measure('key shown');
    await page.goto(`${here.gateway.url}/account/sign-ins?linked`);
    await measure('sign-ins');
    await page.goto(`${local.url}/sign-in`);
    await measure('local sign-in');
    expect(overflows).toEqual(Object.fromEntries(Object.keys(overflows).map((name) => [name, 0])));
  });
});
