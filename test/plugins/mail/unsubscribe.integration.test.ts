import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { runCommand } from '../../support/command-line.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';
import { registeredHere } from '../../support/registered.ts';
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts';

const registry = await registeredHere();

let gateway: TestGateway;
let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer({});
  const mail = `mail: { smtp: "smtp://127.0.0.1:${server.port}", from: shop@example.com }`;
  gateway = await startGateway({ yaml: `${yamlFor('http://127.0.0.1:9')}${mail}\n` });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const record = <Name extends keyof EventTypes>(name: Name, payload: EventTypes[Name]) =>
  gateway.database.fork().transactional((tx) => recordEvent(tx, name, payload, randomUUID()));

/** An account, and what it gets. */
async function createReader() {
  const email = `${randomUUID()}@example.com`;
  const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Ani', email });
  const mails = () => server.mails.filter((mail) => mail.includes(`To: ${email}`));
  /** Waits until so many have come. @returns the last one */
  const next = async (count: number) => {
    await sendDueMails(gateway.gateway.host, registry);
    await expect.poll(() => mails().length).toBe(count);
    return mails().at(-1)?.replace(/=\r\n/g, '').replaceAll('=3D', '=') ?? '';
  };
  return { accountId, next };
}

describe('a mail about the end of a plan', () => {
  it('is no longer sent once its reader has unsubscribed with one click, and again once subscribed', async () => {
    const { accountId, next } = await createReader();
    const ended = () => record('plan.ended', { accountId, endsAt: '2026-11-22T00:00:00Z' });
    await ended();
    const mail = await next(1);
    const path = /List-Unsubscribe:\s+<https?:\/\/[^/]+(\/[^>]+)>/.exec(mail)?.[1] ?? '';
    const page = path.replace('/one-click', '');
    expect(mail).toContain(`${page}" style`);
    // Scanners of links come by GET.
    const client = new PageClient(gateway.url);
    expect((await client.get(page)).text).toContain('You get reminders');
    expect((await fetch(`${gateway.url}${path}`, { redirect: 'manual' })).headers.get('location')).toBe(page);
    const click = (to: string) =>
      fetch(`${gateway.url}${to}`, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
    expect((await click(`${path.slice(0, -1)}!`)).status).toBe(404);
    expect((await client.get(page)).text).toContain('You get reminders');
    expect((await click(path)).status).toBe(200);
    expect((await client.get(page)).text).toContain('You no longer get reminders');
    await ended();
    await record('key.rotated', { accountId, keyId: randomUUID() });
    expect(await next(2)).toContain('Subject: Your key has been replaced');
    await client.submit(page, page, { subscribe: 'true' });
    await ended();
    expect(await next(3)).toContain('Subject: Your pass has ended');
    expect((await client.get(`${page}x`)).status).toBe(404);
  });

  it('about keys has no such link', async () => {
    const { accountId, next } = await createReader();
    await record('key.rotated', { accountId, keyId: randomUUID() });
    expect(await next(1)).not.toMatch(/unsubscribe/i);
  });
});

const run = (...words: string[]) =>
  runCommand(['--config', gateway.file, 'mail', ...words], { DATABASE_URL: gateway.database.url });

describe('daypass mail', () => {
  it('lists mails and sends one again', async () => {
    const { accountId, next } = await createReader();
    await record('key.rotated', { accountId, keyId: randomUUID() });
    await next(1);
    const { out } = await run('list', '--json', '--account', accountId);
    const [mail] = JSON.parse(out).mails;
    expect(mail).toMatchObject({ event: 'key.rotated', state: 'sent' });
    expect((await run('send-again', mail.id)).out).toContain(`mail ${mail.id} is sent again`);
    await next(2);
    expect((await run('send-again', '999999')).code).toBe(3);
  });
});
