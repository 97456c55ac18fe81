import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runCommand } from '../../support/command-line.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { createOperatorToken } from '../../support/operator-token.ts';
import { hasPlugin } from '../../support/own-plugin.ts';
import { type PageClient, signInAt } from '../../support/page-client.ts';
import { listToldActions } from '../../support/told-actions.ts';

/*
 * docs/examples/reports, a plugin that imports `daypass` alone: a page with a table and a form, two actions, a mail, a problem, a command and a reading.
 */

const path = '/operator/reports';
const plugin = join(import.meta.dirname, '..', '..', '..', 'docs', 'examples', 'reports', 'index.ts');

let mails: TestMailServer;
let gateway: TestGateway;
let ops: PageClient;
let owner: string;
beforeAll(async () => {
  mails = await startMailServer();
  gateway = await startGateway({
    yaml: `plugins: [${plugin}]
operators: [ops@example.com]
${hasPlugin('operator-api') ? 'operator_api: { enabled: true }' : ''}
${hasPlugin('mail') ? `mail: { smtp: "smtp://127.0.0.1:${mails.port}", from: shop@example.com }` : ''}
${yamlFor('http://127.0.0.1:9')}`,
  });
  ops = await signInAt(gateway.url, 'ops@example.com');
  await signInAt(gateway.url, 'ani@example.com');
  const [account] = await gateway.database.query<{ id: string }>(`select id from account where email like 'ani@%'`);
  owner = account?.id ?? '';
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await mails?.[Symbol.asyncDispose]();
});

const daypass = async (...words: string[]) => {
  const { code, out, errors } = await runCommand(['--config', gateway.file, ...words], {
    DATABASE_URL: gateway.database.url,
  });
  return code === 0 ? out : `exit ${code}: ${errors}`;
};

/** Records a report by the form below the table. @returns its id */
async function report(text: string): Promise<string> {
  const { location } = await ops.submit(path, path, { account: 'ani@example.com', text });
  expect(location).toBe(`${path}?done=report.add`);
  const [row] = await gateway.database.query<{ id: string }>('select id from reports where text = ?', [text]);
  return row?.id ?? '';
}

it('the page says that there is nothing yet, with the form', async () => {
  const { text } = await ops.get(path);
  expect(text).toContain('Reports about accounts are recorded here.');
  expect(text).toMatch(/<h2 id="act">Record a report<\/h2>[^]*<textarea id="text"/);
});

it('the form records its action, and the table lists the entry with its account and a link to an action', async () => {
  const id = await report('Shares a key');
  const { text } = await ops.get(`${path}?done=report.add`);
  expect(text).toContain('Report recorded');
  expect(text).toContain('to ani@example.com');
  expect(text).toContain(`<a href="/operator/accounts/${owner}">ani@example.com</a>`);
  expect(text).toContain(`<a href="${path}/${id}/close" class="button compact">Close the report</a>`);
  const [action] = await listToldActions(gateway.database, { subject: 'reports', limit: 1 });
  expect(action).toMatchObject({ action: 'report.add', outcome: 'done' });
  expect(action?.note).toContain(owner);
});

it('the form says beside its field what is wrong, and keeps what was typed', async () => {
  const { status, text } = await ops.submit(path, path, { account: 'nobody@example.com', text: 'Who?' });
  expect(status).toBe(422);
  expect(text).toMatch(/id="account-hint"><span class="field-error">/);
  expect(text).toContain('>Who?</textarea>');
});

it('the page of an action finds its subject as the API does, and an unknown one is not found', async () => {
  const id = await report('Sends mail in bulk');
  expect((await ops.get(`${path}/${id}/close`)).text).toContain('Close the report “Sends mail in bulk”?');
  const unknown = await ops.get(`${path}/${crypto.randomUUID()}/close`);
  expect([unknown.status, unknown.text.includes('There is no such report.')]).toEqual([404, true]);
  expect(unknown.text).toContain(`href="${path}"`);
});

it('the command lists entries and runs the actions', async () => {
  const made = await daypass('report', 'add', '--account', 'ani@example.com', '--text', 'By a command');
  const id = /report: (\S+)/.exec(made)?.[1] ?? '';
  expect(await daypass('report', 'list', '--state', 'open')).toContain(id);
  expect(await daypass('report', 'close', id, '--answer', 'Settled.')).toContain('done');
  expect(await daypass('report', 'close', id, '--answer', 'Settled.')).toContain('exit 1: ');
});

it.skipIf(!hasPlugin('operator-api'))('the API lists and closes them', async () => {
  const id = await report('By the API');
  const authorization = `Bearer ${await createOperatorToken(gateway, 'act')}`;
  const api = (below: string, init?: RequestInit) =>
    fetch(`${gateway.url}/operator/api/reports${below}`, {
      ...init,
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': id },
    });
  const { reports } = (await (await api('?state=open')).json()) as { reports: { id: string; account_id: string }[] };
  expect(reports.find((entry) => entry.id === id)).toMatchObject({ account_id: owner });
  expect((await api(`/${id}/close`, { method: 'POST', body: '{"answer":"Settled by a program."}' })).status).toBe(200);
  expect((await (await api('?state=closed')).json()) as object).toMatchObject({ reports: [{ id }, {}] });
});

it.skipIf(!hasPlugin('mail'))('the owner is mailed, with the texts of the plugin', async () => {
  const id = await report('To be mailed');
  await ops.submit(`${path}/${id}/close`, `${path}/${id}/close`, { answer: 'We looked into it.' });
  await vi.waitFor(() => expect(mails.received.map(({ raw }) => raw).join()).toContain('We looked into it.'), 30_000);
  expect(mails.received.map(({ raw }) => raw).join()).toContain('Subject: About a report');
});
