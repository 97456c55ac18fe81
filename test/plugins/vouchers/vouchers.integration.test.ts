import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { runCommand } from '../../support/command-line.ts';
import { type TestGateway, startGateway, yamlFor } from '../../support/gateway.ts';
import { createOperatorToken } from '../../support/operator-token.ts';
import { PageClient } from '../../support/page-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: `${yamlFor('http://127.0.0.1:9')}\noperator_api: { enabled: true }` });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const voucher = (...words: readonly string[]) =>
  runCommand(['--config', gateway.file, 'voucher', ...words], { DATABASE_URL: gateway.gateway.host.database.url });

async function create(...words: readonly string[]): Promise<string[]> {
  const { code, out, errors } = await voucher('create', '--days', '7', '--note', 'Tokopedia', ...words);
  expect([code, errors]).toEqual([0, expect.stringMatching(/^batch [0-9a-f-]{36}: /)]);
  return out.trim().split('\n');
}

async function signedIn(name: string): Promise<PageClient> {
  const browser = new PageClient(gateway.url);
  await browser.submit('/sign-in', '/sign-in', { email: `${name}@example.com`, name });
  return browser;
}

const redeem = async (browser: PageClient, code: string) => (await browser.submit('/redeem', '/redeem', { code })).text;

describe('the page /redeem', () => {
  it('adds days, which the account then has, and says so again for the same code', async () => {
    const browser = await signedIn('ani');
    const [code = ''] = await create('--count', '1');
    expect(await redeem(browser, code)).toMatch(/7 days were added to your pass\..*Valid from .* to /s);
    expect(await redeem(browser, code)).toContain('You have already redeemed this code. It added 7 days.');
    const days = await gateway.gateway.host.database.query<{ reason: string; days: number }>(
      `select p.reason, p.days from plan_period p join account a on a.id = p.account_id where a.email = 'ani@example.com'`,
    );
    expect(days).toEqual([{ reason: 'voucher', days: 7 }]);
  });

  it('fills in the code of a link, and redeems nothing before the button', async () => {
    const browser = await signedIn('budi');
    const [code = ''] = await create('--count', '1');
    expect((await browser.get(`/redeem?code=${code}`)).text).toContain(`value="${code}"`);
    expect(await redeem(browser, code)).toContain('were added');
  });

  it('keeps what was typed, escaped, when the code cannot be redeemed', async () => {
    const browser = await signedIn('citra');
    const text = await redeem(browser, '"><b>x');
    expect(text).toContain('This code cannot be redeemed. It is mistyped, used');
    expect(text).toContain('value="&quot;&gt;&lt;b&gt;x"');
  });

  it('says when to try again after ten codes in an hour', async () => {
    const browser = await signedIn('dewi');
    for (let attempt = 0; attempt < 10; attempt++) await redeem(browser, 'wrong');
    expect(await redeem(browser, 'wrong')).toMatch(/Too many codes were tried\. Try again in \d minutes\./);
  });

  it('is for accounts that are signed in, and is linked from the plans while vouchers are open', async () => {
    expect((await new PageClient(gateway.url).get('/redeem')).status).toBe(302);
    const browser = await signedIn('eka');
    await create('--count', '1');
    expect((await browser.get('/buy')).text).toContain('href="/redeem"');
    await gateway.gateway.host.database.query('update voucher set revoked_at = now() where redeemed_at is null');
    expect((await browser.get('/buy')).text).not.toContain('href="/redeem"');
  });
});

describe('daypass voucher', () => {
  it('prints as many codes as were asked for, all different, and records who made them', async () => {
    const codes = await create('--count', '250', '--source', 'given', '--for', 'new');
    expect(new Set(codes).size).toBe(250);
    expect(codes.every((code) => /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/.test(code))).toBe(true);
    const [action] = await gateway.gateway.host.database.query<object>(
      `select action, note, error from operator_action order by created_at desc limit 1`,
    );
    expect(action).toEqual({
      action: 'voucher.create',
      note: expect.stringMatching(
        /^\{"batch":"[0-9a-f-]{36}","count":250,"days":7,"source":"given","for":"new","note":"Tokopedia"\}$/,
      ),
      error: null,
    });
  });

  it('exports who redeemed what, and lists batches', async () => {
    const [code = ''] = await create('--count', '1');
    await redeem(await signedIn('fitri'), code);
    const { out } = await voucher('export');
    expect(out).toMatch(new RegExp(`,…${code.slice(-4)},7,sold,Tokopedia,redeemed,.*,fitri@example\\.com,`));
    expect(out).not.toContain(code);
    expect((await voucher('list')).out).toMatch(/^batch +created +expires.*\n.* 7 +sold +all +0 +1 +0 +Tokopedia/);
    expect((await voucher('month', new Date().toISOString().slice(0, 7), '--time-zone', 'UTC')).out).toMatch(
      /^day,source,vouchers,days\n\d{4}-\d\d-\d\d,sold,\d+,\d+\n/,
    );
  });

  it('revokes a code, and explains one that there is not', async () => {
    const [code = ''] = await create('--count', '1');
    expect((await voucher('revoke', code, '--note', 'leaked')).out).toBe('1 revoked\n');
    expect(await redeem(await signedIn('gita'), code)).toContain('This code cannot be redeemed');
    const { code: exit, errors } = await voucher('revoke', 'nothing', '--note', 'x');
    expect([exit, errors]).toEqual([3, 'No batch, code or gift order matches "nothing".\n']);
  });

  it.each([
    [['--days', '0', '--count', '1'], 'It must be an integer from 1 to 365.'],
    [['--days', '1', '--count', '10001'], 'It must be an integer from 1 to 10000.'],
    [['--days', '1', '--count', '1', '--for', 'friends'], 'Allowed choices are all, new.'],
  ])('refuses %j', async (words, message) => {
    const { code, errors } = await voucher('create', '--note', 'x', ...words);
    expect([code, errors]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('the API of the operator', () => {
  let token: string;
  beforeAll(async () => {
    token = await createOperatorToken(gateway, 'act');
  });

  async function call(path: string, body: object, key?: string) {
    const response = await fetch(`${gateway.url}/operator/api/vouchers/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it('makes vouchers, and returns their codes once: neither a repetition nor the database has them', async () => {
    const input = { days: 3, count: 2, note: 'reseller', for: 'new' };
    const first = await call('create', input, 'batch-1');
    const codes = first.body['codes'] as string[];
    expect([first.status, new Set(codes).size]).toEqual([200, 2]);
    const again = await call('create', input, 'batch-1');
    expect(again).toEqual({
      status: 200,
      body: { action: 'voucher.create', vouchers: 2, batch: first.body['batch'] },
    });
    const kept = await gateway.database.query<{ text: string }>(
      'select c::text || a::text as text from operator_call c, operator_action a',
    );
    expect(kept.some(({ text }) => codes.some((code) => text.includes(code)))).toBe(false);
    const [action] = await listActions(gateway.database, { subject: 'vouchers', limit: 1 });
    expect(action?.details).toMatchObject({ batch: first.body['batch'], count: 2 });
    const [batch] = await gateway.database.query('select days, is_for_new, source from voucher_batch where id = ?', [
      first.body['batch'],
    ]);
    expect(batch).toEqual({ days: 3, is_for_new: true, source: 'sold' });
  });

  it('revokes one by its code, which no answer and no record repeats', async () => {
    const { body } = await call('create', { days: 1, count: 2, note: 'reseller' });
    const [code = ''] = body['codes'] as string[];
    const revoked = await call(`${code}/revoke`, { note: 'leaked' });
    expect(revoked).toMatchObject({ status: 200, body: { action: 'voucher.revoke', revoked: 1 } });
    expect(JSON.stringify(revoked.body)).not.toContain(code);
    const [action] = await gateway.database.query(
      `select subject, note from operator_action where action = 'voucher.revoke' order by created_at desc limit 1`,
    );
    expect(action).toEqual({ subject: `…${code.slice(-4)}`, note: 'leaked' });
    const { body: rest } = await call(`${String(body['batch'])}/revoke`, { note: 'rest' });
    expect(rest).toEqual({ action: 'voucher.revoke', batch: body['batch'], revoked: 1 });
    expect((await call('0000-0000-0000-0000/revoke', { note: 'typo' })).status).toBe(404);
  });
});
